export type FlagKind = "download" | "decoded" | "removes" | "admin";
export interface Flag {
  line: number;
  kind: FlagKind;
}

const LONGEST = 4000;
const tests: [FlagKind, RegExp][] = [
  ["download", /\b(?:curl|wget|fetch)\b[^|;&\n]{0,2000}\|\s*(?:sudo\s+|env\s+){0,2}(?:\/[\w./-]{0,60}\/)?(?:ba|z|da|k|fi)?sh\b/],
  ["download", /\b(?:ba|z|da|k)?sh\b\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b/],
  ["decoded", /\bbase64\b[^|;&\n]{0,2000}\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b/],
  ["removes", /\brm\s+(?:-[a-zA-Z]{1,10}\s+|--[a-z-]{1,30}\s+){0,6}-[a-zA-Z]{0,8}[rR][a-zA-Z]{0,8}\b/],
  ["admin", /(?:^|[;&|(]\s*)sudo\b/],
];

/** Lines that deserve a second look. Advice only: no flag is no promise. */
export const flagsOf = (text: string): Flag[] => {
  const flags: Flag[] = [];
  text.split("\n").forEach((row, index) => {
    const part = row.length > LONGEST ? row.slice(0, LONGEST) + row.slice(-LONGEST) : row;
    for (const [kind, test] of tests) if (test.test(part) && !flags.some((one) => one.line === index + 1 && one.kind === kind)) flags.push({ line: index + 1, kind });
  });
  return flags.slice(0, 40);
};
