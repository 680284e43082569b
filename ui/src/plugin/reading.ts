import { isLong } from "../ask/reach";
import { plain } from "../text/escaped";
import { type Visible, visible } from "../text/visible";
import type { ConsentCode } from "../wire/shapes";
import { type Difference, differenceOf } from "./difference";

export type HalfName = "client" | "host";
/** What a tab of the sheet shows: the change since the version that was consented to, or one half as a whole. */
export type Part = "change" | HalfName;

export interface HalfReading {
  name: HalfName;
  text: string;
  shown: Visible;
  long: boolean;
}

export interface ChangeReading {
  /** The version that it is compared with. */
  since: string;
  halves: { name: HalfName; difference: Difference }[];
  added: number;
  removed: number;
  long: boolean;
}

export interface CodeReading {
  halves: HalfReading[];
  change: ChangeReading | null;
  /** The parts of which the end must have been on screen before anybody can consent. */
  needed: Part[];
}

/** How a half's code is called where people read about it. */
export const fileOf: Record<HalfName, string> = { client: "client.js", host: "host.py" };

const names: HalfName[] = ["client", "host"];
const cache = new WeakMap<object, CodeReading>();

/** One half as it is shown: numbered, with everything marked that would hide. */
export const halfOf = (name: HalfName, text: string): HalfReading => {
  const shown = visible(text);
  return { name, text, shown, long: isLong(shown.lineCount, shown.characters) };
};

/** What a sheet shows of both halves, computed once for each. */
export const codeReading = (code: ConsentCode): CodeReading => {
  const known = cache.get(code.signed);
  if (known) return known;
  const halves = names.flatMap((name) => (code.signed[name] === null ? [] : [halfOf(name, plain(code.signed[name]))]));
  const change = code.before && changeOf(code.before.package, code.before, code.signed);
  const reading: CodeReading = { halves, change, needed: change ? (change.halves.length ? ["change"] : []) : halves.map((half) => half.name) };
  cache.set(code.signed, reading);
  return reading;
};

type Halves = { host: string | null; client: string | null };

const changeOf = (since: string, before: Halves, after: Halves): ChangeReading => {
  const read = (half: string | null) => (half === null ? null : plain(half));
  const halves = names.map((name) => ({ name, difference: differenceOf(read(before[name]), read(after[name])) })).filter((half) => half.difference.hunks.length > 0);
  const steps = halves.flatMap((half) => half.difference.hunks.flatMap((hunk) => hunk.steps));
  return {
    since,
    halves,
    added: halves.reduce((sum, half) => sum + half.difference.added, 0),
    removed: halves.reduce((sum, half) => sum + half.difference.removed, 0),
    long: isLong(steps.length, steps.reduce((sum, step) => sum + step.line.length, 0)),
  };
};

/** True where the version that was consented to did not name this at all. */
export const isNew = (name: string, half: HalfName, before: Halves | null): boolean => {
  const text = before?.[half];
  return before !== null && !(text && text.includes(name));
};
