import type { Json } from "../wire/shapes";
import { type TokenName, grounds, inks, meanings, tokens } from "./spec/tokens";

/** One value for light and one for dark surroundings. */
type Pair = readonly [light: string, dark: string];
export type TokenSet = { [name in TokenName]?: Pair };

/** Least contrast of words on what they stand on, after WCAG 2. */
const LEAST = 4.5;

/** Decisions and what the person has opened: they look as placet looks, whatever a half has set. */
const OWN = ".desk, .veil, .ask, .told-now, .lost, [data-decision]";

const part = (hex: string, at: number): number => {
  const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
  return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
};
const light = (hex: string): number => 0.2126 * part(hex, 1) + 0.7152 * part(hex, 3) + 0.0722 * part(hex, 5);
export const contrast = (a: string, b: string): number => {
  const [x, y] = [light(a), light(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
};

/** Reads what a half wants: names and values from the lists, one value or {light, dark}. Throws with the reason. */
export const tokensOf = (wanted: Json): TokenSet => {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) throw new Error("tokens has to be an object, such as {petrol: \"#0f5563\"}.");
  const made: TokenSet = {};
  for (const [given, value] of Object.entries(wanted)) {
    const name = given.replace(/^--/, "");
    if (!Object.hasOwn(tokens, name)) throw new Error(`There is no token ${JSON.stringify(given)} that a plugin may set. There are ${Object.keys(tokens).join(", ")}.`);
    const kind = tokens[name as TokenName];
    const both = typeof value === "object" && value !== null && !Array.isArray(value) ? [value.light, value.dark] : [value, value];
    const [day, night] = both.map((one) => kind.read(one));
    if (day === undefined || night === undefined) throw new Error(`${name} has to be ${kind.says}, or {light, dark} of two such values.`);
    made[name as TokenName] = [day, night];
  }
  return made;
};

/** Throws where words could not be read any more. `base` holds the values that are not set, by token. */
export const checkContrast = (set: TokenSet, base: Readonly<Record<string, Pair>>): void => {
  const of = (name: string): Pair | undefined => set[name as TokenName] ?? base[name];
  for (const ground of grounds)
    for (const ink of [...inks, ...meanings])
      for (const at of [0, 1] as const) {
        const [below, above] = [of(ground)?.[at], of(ink)?.[at]];
        if (below === undefined || above === undefined || (!(ground in set) && !(ink in set))) continue;
        const found = contrast(below, above);
        if (found < LEAST) throw new Error(`${ink} on ${ground} (${at === 0 ? "light" : "dark"}) would have a contrast of ${found.toFixed(1)}; words need ${LEAST}.`);
      }
};

const declared = (value: string): Pair | null => {
  const found = /^light-dark\(\s*(#[0-9a-f]{3,6})\s*,\s*(#[0-9a-f]{3,6})\s*\)$/i.exec(value.trim());
  const whole = (hex: string): string => (hex.length === 4 ? `#${[...hex.slice(1)].map((one) => one + one).join("")}` : hex);
  return found ? [whole(found[1]!), whole(found[2]!)] : null;
};

/** Every rule of the page's own style sheets that sets tokens at the root. */
const rootRules = (): CSSStyleRule[] =>
  [...document.styleSheets].flatMap((sheet) => {
    try {
      return [...sheet.cssRules].filter((rule): rule is CSSStyleRule => rule instanceof CSSStyleRule && rule.selectorText.startsWith(":root"));
    } catch {
      return []; // a style sheet of a browser extension may not be readable, and is not the page's
    }
  });

/** What halves have set of the theme. The newest wins; decisions and the high-contrast theme are never touched. */
export class Overrides {
  private readonly sets = new Map<string, TokenSet>();
  private sheet: CSSStyleSheet | null = null;

  put(id: string, wanted: Json): void {
    const set = tokensOf(wanted);
    const base: Record<string, Pair> = {};
    for (const rule of rootRules())
      if (rule.selectorText === ":root")
        for (const name of rule.style) {
          const pair = name.startsWith("--") ? declared(rule.style.getPropertyValue(name)) : null;
          if (pair) base[name.slice(2)] = pair;
        }
    checkContrast({ ...this.whole(), ...set }, base);
    this.sets.set(id, set);
    this.draw();
  }

  remove(id: string): void {
    if (this.sets.delete(id)) this.draw();
  }

  private whole(): TokenSet {
    return Object.assign({}, ...this.sets.values()) as TokenSet;
  }

  private draw(): void {
    const set = this.whole();
    const names = Object.keys(set) as TokenName[];
    const values = names.map((name) => `--${name}:${set[name]![0] === set[name]![1] ? set[name]![0] : `light-dark(${set[name]![0]},${set[name]![1]})`}`).join(";");
    // the colour of words is inherited as it was computed outside, so it is set anew inside
    const kept = rootRules().map((rule) => {
      const own = names.map((name) => [`--${name}`, rule.style.getPropertyValue(`--${name}`)]).filter(([, value]) => value);
      return own.length ? `${rule.selectorText} :is(${OWN}){${own.map(([name, value]) => `${name}:${value}`).join(";")}}` : "";
    });
    this.sheet ??= new CSSStyleSheet();
    this.sheet.replaceSync(names.length ? `:root:not([data-theme="contrast"]){${values}}${kept.join("")}:where(${OWN}){color:var(--ink)}` : "");
    if (!document.adoptedStyleSheets.includes(this.sheet)) document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.sheet];
  }
}
