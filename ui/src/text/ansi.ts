/** Colour roles of terminal output: red, yellow and green keep their meaning, everything else is plain ink. */
export type Role = "r" | "g" | "y" | "";
export interface Span {
  role: Role;
  text: string;
}

const roleOf: Record<number, Role> = { 31: "r", 91: "r", 32: "g", 92: "g", 33: "y", 93: "y" };

/** Splits terminal output into spans by its colour sequences (ECMA-48 SGR). Other sequences stay in the text, where they become visible marks. */
export const ansiSpans = (text: string): Span[] => {
  const spans: Span[] = [];
  let role: Role = "";
  for (const part of text.split(/(\u001b\[[0-9;:]{0,32}m)/)) {
    if (part.startsWith("\u001b[") && part.endsWith("m")) {
      for (const number of part.slice(2, -1).split(/[;:]/).map(Number)) {
        if (number === 0 || number === 39) role = "";
        else if (number in roleOf) role = roleOf[number]!;
        else if ((number >= 30 && number <= 37) || (number >= 90 && number <= 97)) role = "";
      }
    } else if (part) spans.push({ role, text: part });
  }
  return spans;
};
