import { type Line, type Visible, visible } from "../text/visible";

export type Sign = " " | "-" | "+";
export interface Change {
  shown: Visible;
  /** For each line of `shown`, whether it goes, comes or stays. */
  signs: Sign[];
}
type Row = [sign: Sign, text: string];

const MOST_CELLS = 4_000_000;
const rowsOf = (text: string): string[] => (text === "" ? [] : text.split("\n"));

/** The difference of two texts, by lines. Every line of both is in it: what is in both once, the rest once each. */
export const changeOf = (before: string, after: string): Change => {
  const blocks: Row[] = [];
  for (const [sign, text] of rows(rowsOf(before), rowsOf(after))) {
    const last = blocks[blocks.length - 1];
    if (last && last[0] === sign) last[1] += `\n${text}`;
    else blocks.push([sign, text]);
  }
  const parts = blocks.map(([sign, text]): [Sign, Visible] => [sign, visible(text)]);
  const signs: Sign[] = [];
  const lines: Line[] = [];
  let number = 0;
  for (const [sign, part] of parts) {
    for (const line of part.lines) {
      lines.push({ ...line, number: number + line.number });
      signs.push(sign);
    }
    number += part.lineCount;
  }
  return { shown: joined(parts.map(([, part]) => part), lines, number), signs };
};

const rows = (old: string[], now: string[]): Row[] => {
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const stays = (text: string): Row => [" ", text];
  return [
    ...old.slice(0, start).map(stays),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map(stays),
  ];
};

/** The longest common run of lines stays; texts too large for that are told as gone and come. */
const middle = (old: string[], now: string[]): Row[] => {
  const width = now.length + 1;
  if (!old.length || !now.length || (old.length + 1) * width > MOST_CELLS) return [...old.map((text): Row => ["-", text]), ...now.map((text): Row => ["+", text])];
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      common[i * width + j] = old[i] === now[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const found: Row[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      found.push([" ", old[i]!]);
      i += 1;
      j += 1;
    } else if (j === now.length || (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      found.push(["-", old[i]!]);
      i += 1;
    } else {
      found.push(["+", now[j]!]);
      j += 1;
    }
  }
  return found;
};

const joined = (parts: Visible[], lines: Line[], lineCount: number): Visible => {
  const sum = { ...visible(""), lines, lineCount, characters: 0 };
  const before: number[] = [];
  let number = 0;
  for (const part of parts) {
    before.push(number);
    number += part.lineCount;
  }
  const hidden = new Map<string, Visible["hidden"][number]>();
  parts.forEach((part, index) => {
    for (const one of part.hidden) hidden.set(one.short, { ...one, count: (hidden.get(one.short)?.count ?? 0) + one.count });
    sum.alike = [...sum.alike, ...part.alike.map((one) => ({ ...one, line: one.line + before[index]! }))];
    sum.characters += part.characters;
    sum.hiddenCount += part.hiddenCount;
    sum.bidi ||= part.bidi;
    sum.terminal ||= part.terminal;
    sum.foreign += part.foreign;
    sum.blankRuns += part.blankRuns;
    sum.longestBlankRun = Math.max(sum.longestBlankRun, part.longestBlankRun);
    sum.blankLineRuns += part.blankLineRuns;
    sum.longestBlankLineRun = Math.max(sum.longestBlankLineRun, part.longestBlankLineRun);
  });
  sum.hidden = [...hidden.values()];
  return sum;
};
