import { type Kind, oneOf } from "./kinds";

const colour: Kind<string> = {
  says: '"#rrggbb"',
  read: (value) => (typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : undefined),
};
const radius = oneOf("0px", "2px", "4px", "6px", "8px", "10px", "12px");

/** Tokens of the theme that a half may set; the hues that carry a meaning (waits, allowed, refused ...) are not among them. */
export const tokens = {
  paper: colour, sheet: colour, inset: colour, hover: colour, line: colour, "line-2": colour,
  ink: colour, "ink-2": colour, "ink-3": colour,
  petrol: colour, "petrol-t": colour, "petrol-e": colour,
  "r-1": radius, "r-2": radius, "r-3": radius,
} as const satisfies { [name: string]: Kind<string> };

export type TokenName = keyof typeof tokens;

/** What words stand on, and the words that have to stay readable there. */
export const grounds = ["paper", "sheet", "inset", "hover"] as const;
export const inks = ["ink", "ink-2", "ink-3", "petrol"] as const;
/** Meanings that no half can set, and that have to stay readable on what it sets. */
export const meanings = ["wait", "allow", "refuse", "agent", "work", "rest"] as const;
