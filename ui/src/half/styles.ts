/**
 * The style sheets of halves. The browser's own parser reads them, in a sheet that is never used and loads nothing; what is on
 * the lists is written down anew, for this half's seats only.
 */

const properties =
  /^(?:color|background-color|opacity|font-(?:size|weight|style|variant-numeric)|line-height|letter-spacing|text-(?:align|decoration-line|overflow|transform)|white-space(?:-collapse)?|text-wrap-mode|(?:padding|margin)(?:-(?:top|right|bottom|left))?|border(?:-(?:top|right|bottom|left))?-(?:width|style|color)|border-(?:top|bottom)-(?:left|right)-radius|display|flex-(?:grow|shrink|basis|direction|wrap)|(?:row|column)-gap|align-(?:items|self|content)|justify-(?:content|items|self)|grid-(?:template-columns|template-rows|column-start|column-end|row-start|row-end|auto-flow)|(?:min-|max-)?(?:width|height)|overflow-[xy]|box-sizing|fill|stroke|stroke-width|transition-(?:property|duration)|animation-(?:name|duration|iteration-count)|order)$/;
/** With a token in them these keep no longhands of their own to look at. */
const shorthands = ["padding", "margin", "gap", "border", "border-color", "border-width", "border-radius", "background"] as const;
const token = /var\(\s*--(?:s-[1-8]|r-[1-3]|t-(?:xs|s|m|l|xl|2xl|3xl)|paper|sheet|inset|hover|line|line-2|ink|ink-2|ink-3|(?:petrol|wait|allow|refuse|agent|work|rest)(?:-[te])?)\s*\)/gi;
const plain = /^[\w\s#%.,()+*/-]*$/;
const reaching = /(?:url|image|image-set|src|element|attr|paint|cross-fade|env|var|expression)\s*\(/i;
const selector = /^(?:\.[a-z][\w-]*|:(?:hover|focus|focus-visible|active|disabled|first-child|last-child|nth-child\([\dn+ -]+\))|\s*[>+~]\s*|\s+)+$/i;
const media = /^[\w\s():.,<>=-]+$/;

const most = { rules: 500, deep: 2, left: 20 } as const;

const allowed = (name: string, value: string): boolean => {
  const rest = value.replaceAll(token, "");
  if (!value || !plain.test(rest) || reaching.test(rest)) return false;
  if (name.startsWith("margin") && /(?:^|[\s(,])-/.test(rest)) return false;
  return name !== "display" || /^(?:block|inline|inline-block|flex|inline-flex|grid|inline-grid|none|contents)$/.test(value);
};

export interface Cleaned {
  css: string;
  /** What was left out, a few words each. */
  left: string[];
}

/** Writes a half's style sheet anew from the lists, for elements below `[data-half="SCOPE"]`. */
export const cleaned = (css: string, scope: string): Cleaned => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  const left: string[] = [];
  const frames: string[] = [];
  let count = 0;
  const leave = (what: string): void => {
    if (left.length < most.left) left.push(what.slice(0, 120));
  };

  const declarations = (style: CSSStyleDeclaration): string => {
    const kept: string[] = [];
    for (const name of shorthands) {
      const value = style.getPropertyValue(name);
      if (value.includes("var(")) {
        if (allowed(name, value)) kept.push(`${name}:${value}`);
        else leave(`${name}: ${value}`);
      }
    }
    for (const name of style) {
      const value = style.getPropertyValue(name);
      if (!value) continue; // it came from a shorthand with a token, which was looked at above
      if (!properties.test(name) || !allowed(name, value)) leave(`${name}: ${value}`);
      else if (name === "animation-name") kept.push(`${name}:${value.split(",").map((one) => (one.trim() === "none" ? "none" : `${scope}-${one.trim()}`)).join(",")}`);
      else kept.push(`${name}:${value}`);
    }
    return kept.join(";");
  };

  const rules = (list: CSSRuleList, deep: number): string => {
    const made: string[] = [];
    for (const rule of list) {
      count += 1;
      if (count > most.rules) {
        leave(`everything after ${most.rules} rules`);
        break;
      }
      if (rule instanceof CSSStyleRule && rule.cssRules.length === 0 && rule.selectorText.split(",").every((one) => selector.test(one.trim())))
        made.push(`${rule.selectorText.replaceAll(/\.([a-z])/gi, ".hx-$1")}{${declarations(rule.style)}}`);
      else if (rule instanceof CSSMediaRule && deep < most.deep && media.test(rule.media.mediaText)) made.push(`@media ${rule.media.mediaText}{${rules(rule.cssRules, deep + 1)}}`);
      else if (rule instanceof CSSKeyframesRule && /^[a-z][\w-]*$/i.test(rule.name))
        frames.push(`@keyframes ${scope}-${rule.name}{${[...rule.cssRules].map((one) => (one instanceof CSSKeyframeRule ? `${one.keyText}{${declarations(one.style)}}` : "")).join("")}}`);
      else leave(rule instanceof CSSStyleRule ? rule.selectorText : rule.cssText.slice(0, 60));
    }
    return made.join("");
  };

  const inner = rules(sheet.cssRules, 0);
  return { css: `${frames.join("")}@scope ([data-half="${scope}"]){${inner}}`, left };
};

/** The sheets of all halves that are in use. */
export class Sheets {
  private readonly sheets = new Map<string, CSSStyleSheet>();

  insert(scope: string, id: number, css: string): string[] {
    this.remove(scope, id);
    const made = cleaned(css, scope);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(made.css);
    this.sheets.set(`${scope} ${id}`, sheet);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    return made.left;
  }

  remove(scope: string, id: number): void {
    const sheet = this.sheets.get(`${scope} ${id}`);
    if (!sheet) return;
    this.sheets.delete(`${scope} ${id}`);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
  }
}
