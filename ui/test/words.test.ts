import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { de } from "../src/words/de";
import { en } from "../src/words/en";
import { zh } from "../src/words/zh";

type Tree = { [name: string]: unknown };
const leaves = (tree: Tree, path = ""): [string, unknown][] =>
  Object.entries(tree).flatMap(([name, value]) => (value !== null && typeof value === "object" ? leaves(value as Tree, `${path}${name}.`) : [[`${path}${name}`, value] as [string, unknown]]));
const sources = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? sources(path) : [path];
  });

describe("words", () => {
  const wanted = leaves(en).map(([path]) => path).sort();
  it.each([["de", de], ["zh", zh]] as const)("%s says everything that English says", (_, words) => {
    expect(leaves(words).map(([path]) => path).sort()).toEqual(wanted);
    for (const [path, value] of leaves(words)) if (typeof value === "string") expect(value, path).not.toBe("");
  });
  it.each([["en", en], ["de", de], ["zh", zh]] as const)("%s has no default answer among its fields", (_, words) => {
    for (const field of [words.ask.reject, words.ask.allowOnce, words.ask.rejectNote, words.full.yes]) expect(field).not.toMatch(/^(OK|Yes|Ja|Continue|Weiter|Approve|Confirm|确定|是|继续)$/i);
  });
  it("has no word that nothing says", () => {
    const code = sources(join(import.meta.dirname, "../src")).filter((path) => !/words\/(en|de|zh)\.ts$/.test(path)).map((path) => readFileSync(path, "utf8")).join("\n");
    const tables = /^(outcome|detail|channel|compose\.presetText|tool\.runBy|jobs\.mode|jobs\.why|said\.end|shell\.themes|plugin\.(?:field|half|halfShort|part|service|clientService|seat|detail|status|phase|refusal))\./;
    const unused = wanted.filter((path) => !tables.test(path) && path.includes(".") && !code.includes(`words.${path}`));
    expect(unused).toEqual([]);
  });
});
