import { describe, expect, it } from "vitest";
import { type Difference, differenceOf } from "../src/plugin/difference";

const written = (difference: Difference): string[] => difference.hunks.flatMap((hunk) => hunk.steps.map((step) => `${step.number}${step.sign}${step.line}`));
const lines = (n: number, name = "line"): string[] => Array.from({ length: n }, (_, index) => `${name} ${index + 1}`);

/** The new text again, from the old one and the hunks: what is not in a hunk did not change. */
const applied = (before: string, difference: Difference): string => {
  const old = before === "" ? [] : before.split("\n");
  const result: string[] = [];
  let at = 0;
  for (const hunk of difference.hunks) {
    const first = hunk.steps.find((step) => step.sign !== "+");
    const start = first ? (first.sign === "-" ? first.number - 1 : old.length) : old.length;
    const target = hunk.from - 1;
    while (result.length < target && at < (first?.sign === "-" ? start : old.length)) result.push(old[at++]!);
    for (const step of hunk.steps) {
      if (step.sign === "-") {
        expect(old[at]).toBe(step.line);
        at += 1;
      } else {
        if (step.sign === " ") expect(old[at++]).toBe(step.line);
        result.push(step.line);
      }
    }
  }
  return [...result, ...old.slice(at)].join("\n");
};

describe("the difference of two versions", () => {
  it("names what goes and what comes, with the numbers of either text", () => {
    const found = differenceOf("a\nb\nc", "a\nB\nc\nd");
    expect(written(found)).toEqual(["1 a", "2-b", "2+B", "3 c", "4+d"]);
    expect([found.added, found.removed]).toEqual([2, 1]);
  });
  it("is empty for equal texts and whole for a half that is new or gone", () => {
    expect(differenceOf("a\nb", "a\nb").hunks).toEqual([]);
    expect(differenceOf(null, "a\nb")).toMatchObject({ added: 2, removed: 0 });
    expect(differenceOf("a\nb", null)).toMatchObject({ added: 0, removed: 2 });
  });
  it("keeps changes that lie apart in hunks of their own, with three lines around", () => {
    const old = lines(60);
    const now = [...old];
    now[4] = "changed";
    now[40] = "changed too";
    const found = differenceOf(old.join("\n"), now.join("\n"));
    expect(found.hunks.map((hunk) => [hunk.from, hunk.to])).toEqual([[2, 8], [38, 44]]);
  });
  it("leads from the old text to the new one, whatever changed", () => {
    let seed = 7;
    const next = (most: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed % most;
    };
    for (let round = 0; round < 300; round += 1) {
      const old = Array.from({ length: next(40) }, () => `l${next(6)}`);
      const now = old.flatMap((line) => (next(5) === 0 ? [] : next(5) === 0 ? [`l${next(6)}`, line] : [line]));
      const found = differenceOf(old.join("\n"), now.join("\n"));
      expect(found.added - found.removed).toBe((now.join("\n") === "" ? 0 : now.length) - (old.join("\n") === "" ? 0 : old.length));
      if (old.join("\n") !== "" && now.join("\n") !== "") expect(applied(old.join("\n"), found)).toBe(now.join("\n"));
    }
  });
  it("ends quickly on texts that have nothing in common", () => {
    const started = performance.now();
    const found = differenceOf(lines(8000, "old").join("\n"), lines(8000, "new").join("\n"));
    expect([found.added, found.removed]).toEqual([8000, 8000]);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
