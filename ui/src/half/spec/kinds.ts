/** What one property may hold. `read` gives the value to use, or undefined where it is not allowed. */
export interface Kind<T> {
  readonly says: string;
  readonly read: (value: unknown) => T | undefined;
}

const kind = <T>(says: string, read: (value: unknown) => T | undefined): Kind<T> => ({ says, read });
const matching = (says: string, pattern: RegExp, most: number): Kind<string> =>
  kind(says, (value) => (typeof value === "string" && value.length <= most && pattern.test(value) ? value : undefined));

export const text = (most: number): Kind<string> =>
  kind(`string (at most ${most})`, (value) => (typeof value === "string" && value.length <= most ? value : typeof value === "number" && Number.isFinite(value) ? String(value) : undefined));

export const number = (least: number, most: number): Kind<number> =>
  kind(`number (${least} to ${most})`, (value) => (typeof value === "number" && value >= least && value <= most ? value : undefined));

export const flag: Kind<boolean> = kind("boolean", (value) => (typeof value === "boolean" ? value : undefined));

export const oneOf = <const T extends string>(...words: readonly T[]): Kind<T> =>
  kind(words.map((word) => JSON.stringify(word)).join(" | "), (value) => words.find((word) => word === value));

export const listOf = <T>(item: Kind<T>, most: number): Kind<T[]> =>
  kind(`Array<${item.says}> (at most ${most})`, (value) => {
    if (!Array.isArray(value) || value.length > most) return undefined;
    const all: T[] = [];
    for (const one of value) {
      const read = item.read(one);
      if (read === undefined) return undefined;
      all.push(read);
    }
    return all;
  });

/** An object with exactly these fields, each there; anything else in it is left out. */
export const record = <T extends object>(fields: { readonly [K in keyof T]: Kind<T[K]> }): Kind<T> =>
  kind(`{${Object.entries<Kind<unknown>>(fields).map(([name, field]) => `${name}: ${field.says}`).join(", ")}}`, (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const made: Partial<T> = {};
    for (const name of Object.keys(fields) as (keyof T & string)[]) {
      const read = Object.hasOwn(value, name) ? fields[name].read((value as Record<string, unknown>)[name]) : undefined;
      if (read === undefined) return undefined;
      made[name] = read;
    }
    return made as T;
  });

export const either = <A, B>(a: Kind<A>, b: Kind<B>): Kind<A | B> => kind(`${a.says} | ${b.says}`, (value) => a.read(value) ?? b.read(value));

/** Classes of `styles.insert`; in the page each gets a prefix, so that none is one of the page's own. */
export const classes: Kind<string> = kind("string of class names", (value) => {
  if (typeof value !== "string" || value.length > 400) return undefined;
  const names = value.split(/\s+/).filter(Boolean);
  return names.every((name) => /^[a-z][a-z0-9_-]{0,40}$/i.test(name)) ? names.map((name) => `hx-${name}`).join(" ") : undefined;
});

/** A colour: hexadecimal, a colour token of placet, or the colour of the text. */
export const paint = matching('"#rrggbb" | "var(--TOKEN)" | "currentColor" | "none"', /^(?:#[0-9a-f]{3,8}|none|currentColor|var\(--(?:paper|sheet|inset|hover|line|line-2|ink|ink-2|ink-3|petrol|petrol-t|petrol-e|wait|allow|refuse|agent|work|rest)\))$/i, 40);
export const pathData = matching("string (path data)", /^[MmLlHhVvCcSsQqTtAaZz0-9eE ,.+\-\n]*$/, 20_000);
export const points = matching("string (x,y pairs)", /^[0-9eE ,.+\-\n]*$/, 20_000);
export const viewBox = matching('"x y width height"', /^-?[\d.]+ -?[\d.]+ [\d.]+ [\d.]+$/, 60);
export const transform = matching('"translate(x y) scale(n) rotate(n)"', /^(?:(?:translate|scale|rotate)\([-\d., ]+\)\s*){0,4}$/, 120);
/** A whole address of the web; nothing else can be opened. */
export const address: Kind<string> = kind("string (https:// or http:// address)", (value) => {
  if (typeof value !== "string" || value.length > 2_000) return undefined;
  try {
    const url = new URL(value);
    return (url.protocol === "https:" || url.protocol === "http:") && !url.username && !url.password ? url.href : undefined;
  } catch {
    return undefined;
  }
});
/** The bytes of a picture, as base64; the page looks at what they are. */
export const picture = matching("string (base64 of a PNG or JPEG)", /^[A-Za-z0-9+/]+={0,2}$/, 200_000);
