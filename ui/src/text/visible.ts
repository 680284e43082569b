import { codeName, hiddenName, looksAlike, scriptOf } from "./characters";

/** One piece of a line as it is drawn. `raw` is always the original text, so that joining all pieces gives the original back. */
export type Piece =
  | { kind: "text"; raw: string }
  | { kind: "mark"; raw: string; short: string; long: string; of: "control" | "bidi" | "invisible" | "blank" | "stack" }
  | { kind: "blanks"; raw: string; count: number; name: "space" | "tab" | "mixed" }
  | { kind: "tab"; raw: string }
  | { kind: "letter"; raw: string; long: string; alike: boolean };

export interface Line {
  number: number;
  pieces: Piece[];
  /** More than one where a run of blank lines was folded into one row; the numbers go on behind it. */
  lines: number;
  /** Number of characters in the line. */
  length: number;
}

export interface Hidden {
  short: string;
  long: string;
  count: number;
}

export interface Visible {
  lines: Line[];
  lineCount: number;
  characters: number;
  hidden: Hidden[];
  hiddenCount: number;
  bidi: boolean;
  terminal: boolean;
  alike: { letter: string; long: string; line: number }[];
  foreign: number;
  blankRuns: number;
  longestBlankRun: number;
  blankLineRuns: number;
  longestBlankLineRun: number;
}

export type Reading = "code" | "prose";

const BLANK_RUN = 8;
const INDENT = 40;
const BLANK_LINES = 4;
const STACK = 2;
/** What is drawn as a blank and is none of ASCII, with such between them; the terminal has the same (`cli/characters.py`). */
const FOREIGN_BLANKS = /[\u00a0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0]+(?:[ \t]+[\u00a0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0]+)*/y;

const lengthOf = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/**
 * Makes everything in a text visible that would otherwise hide, turn the line around, or pass for something else.
 *
 * `code` also marks each letter outside ASCII and folds runs of blank lines with their count; `prose` leaves foreign letters alone.
 * Nothing is dropped: the pieces joined are the text.
 */
export const visible = (text: string, reading: Reading = "code"): Visible => {
  const result: Visible = {
    lines: [], lineCount: 0, characters: lengthOf(text), hidden: [], hiddenCount: 0, bidi: false, terminal: false,
    alike: [], foreign: 0, blankRuns: 0, longestBlankRun: 0, blankLineRuns: 0, longestBlankLineRun: 0,
  };
  const counts = new Map<string, Hidden>();
  const rows = text.split("\n");
  result.lineCount = rows.length;
  for (let index = 0; index < rows.length; ) {
    const blank = blankRows(rows, index);
    if (reading === "code" && blank >= BLANK_LINES) {
      result.blankLineRuns += 1;
      result.longestBlankLineRun = Math.max(result.longestBlankLineRun, blank);
      result.lines.push({ number: index + 1, pieces: [{ kind: "text", raw: rows.slice(index, index + blank).join("\n") }], lines: blank, length: 0 });
      index += blank;
      continue;
    }
    const row = rows[index]!;
    result.lines.push({ number: index + 1, pieces: piecesOf(row, index + 1, reading, result, counts), lines: 1, length: row.length });
    index += 1;
  }
  result.hidden = [...counts.values()];
  result.hiddenCount = result.hidden.reduce((sum, one) => sum + one.count, 0);
  return result;
};

const blankRows = (rows: string[], from: number): number => {
  let to = from;
  while (to < rows.length && /^[ \t]*$/.test(rows[to]!)) to += 1;
  return to - from;
};

const piecesOf = (row: string, line: number, reading: Reading, sum: Visible, counts: Map<string, Hidden>): Piece[] => {
  const pieces: Piece[] = [];
  let plain = "";
  let marks = 0;
  const flush = () => {
    if (plain) pieces.push({ kind: "text", raw: plain });
    plain = "";
  };
  const put = (piece: Piece) => {
    flush();
    pieces.push(piece);
  };
  const hide = (raw: string, short: string, long: string, of: (Piece & { kind: "mark" })["of"], times = 1) => {
    put({ kind: "mark", raw, short: times > 1 ? `${short} ×${times}` : short, long, of });
    const seen = counts.get(short);
    if (seen) seen.count += times;
    else counts.set(short, { short, long, count: times });
    if (of === "bidi") sum.bidi = true;
  };

  for (let at = 0; at < row.length; ) {
    const code = row.codePointAt(at)!;
    const letter = String.fromCodePoint(code);

    if (letter === " " || letter === "\t") {
      const run = /^[ \t]+/.exec(row.slice(at, at + 100_000))![0];
      const limit = at === 0 ? INDENT : BLANK_RUN;
      if (run.length >= limit) {
        sum.blankRuns += 1;
        sum.longestBlankRun = Math.max(sum.longestBlankRun, run.length);
        put({ kind: "blanks", raw: run, count: run.length, name: run.includes("\t") ? (run.includes(" ") ? "mixed" : "tab") : "space" });
      } else {
        for (const one of run) {
          if (one === "\t") put({ kind: "tab", raw: one });
          else plain += one;
        }
      }
      marks = 0;
      at += run.length;
      continue;
    }

    if (code >= 0x20 && code < 0x7f) {
      plain += letter;
      marks = 0;
      at += 1;
      continue;
    }

    if (code === 0x1b || code === 0x9b) {
      const sequence = /^(?:\u001b\[|\u009b)[0-?]{0,32}[ -/]{0,4}[@-~]/.exec(row.slice(at, at + 48))?.[0];
      sum.terminal = true;
      if (sequence) {
        hide(sequence, `ESC ${sequence.replace(/^\u001b|^\u009b/, "")}`, "terminal control sequence", "control");
        at += sequence.length;
        continue;
      }
    }

    FOREIGN_BLANKS.lastIndex = at;
    const blanks = code >= 0xa0 ? FOREIGN_BLANKS.exec(row)?.[0] : undefined;
    if (blanks && blanks.length >= BLANK_RUN) {
      const one = new Set(blanks).size === 1 ? hiddenName(code) : null;
      sum.blankRuns += 1;
      sum.longestBlankRun = Math.max(sum.longestBlankRun, blanks.length);
      hide(blanks, one?.short ?? "BLANKS", one ? `${codeName(code)} ${one.long}` : "blanks of several kinds", "blank", blanks.length);
      at += blanks.length;
      continue;
    }

    const name = hiddenName(code);
    if (name) {
      hide(letter, name.short, `${codeName(code)} ${name.long}`, name.kind);
      at += letter.length;
      continue;
    }

    if (/\p{M}/u.test(letter)) {
      marks += 1;
      if (marks > STACK) {
        const run = new RegExp(`^\\p{M}{1,5000}`, "u").exec(row.slice(at, at + 10_000))![0];
        hide(run, `+${lengthOf(run)}`, "stacked combining marks", "stack");
        at += run.length;
        continue;
      }
      if (reading === "prose") plain += letter;
      else {
        const last = pieces.at(-1);
        if (!plain && last?.kind === "letter") {
          last.raw += letter;
          last.long += `, ${codeName(code)}`;
        } else {
          const base = [...plain].at(-1) ?? "";
          plain = plain.slice(0, plain.length - base.length);
          sum.foreign += 1;
          put({ kind: "letter", raw: base + letter, long: `${base} with ${codeName(code)}`, alike: false });
        }
      }
      at += letter.length;
      continue;
    }

    marks = 0;
    if (reading === "prose") plain += letter;
    else {
      const alike = looksAlike(letter);
      const script = scriptOf(letter);
      const long = `${codeName(code)}${script ? ` ${script}` : ""}`;
      if (alike) sum.alike.push({ letter, long, line });
      else sum.foreign += 1;
      put({ kind: "letter", raw: letter, long, alike });
    }
    at += letter.length;
  }
  flush();
  return pieces;
};

/** One line of plain characters for titles, rows and announcements, where no mark can be drawn: what hides becomes its name in brackets. */
export const oneLine = (text: string, most = 120): string => {
  const shown: string[] = [];
  let length = 0;
  for (const line of visible(text.slice(0, most * 8), "prose").lines) {
    if (shown.length) shown.push(" ⏎ ");
    for (const piece of line.pieces) {
      const part = piece.kind === "mark" ? `[${piece.short}]` : piece.kind === "blanks" ? " " : piece.raw.replaceAll("\n", " ⏎ ").replaceAll("\t", " ");
      shown.push(part);
      length += part.length;
    }
    if (length > most) break;
  }
  const joined = shown.join("").trim();
  return joined.length > most ? `${joined.slice(0, most)}…` : joined;
};
