/** Undoes the escaped form in which the log keeps text: `\\` is a backslash, `\uXXXX` one code unit. Throws on anything else. */
export const unescape = (text: string): string =>
  text.replace(/\\(\\|u[0-9a-f]{4}|[\s\S]?)/g, (_, rest: string) => {
    if (rest === "\\") return "\\";
    if (rest.length === 5) return String.fromCharCode(Number.parseInt(rest.slice(1), 16));
    throw new SyntaxError("not in the escaped form");
  });

/** The text that an escaped form stands for, or the form itself where it is none: for showing, never for comparing. */
export const plain = (text: string): string => {
  try {
    return unescape(text);
  } catch {
    return text;
  }
};
