import { expect, test } from "vitest";
import { Turns } from "../src/wire/turns";

const soon = () => new Promise((done) => setTimeout(done, 0));

test("of many calls three go at once, two of one plugin, and each goes in the end", async () => {
  const held: string[] = [];
  const turns = new Turns((name, work) => (held.push(name), work()));
  const going: { whose: string; end: () => void }[] = [];
  const ended: string[] = [];
  const call = (whose: string, fails = false) =>
    turns
      .take(whose, () => new Promise<void>((done, fail) => going.push({ whose, end: () => (fails ? fail(new Error("no")) : done()) })))
      .catch(() => undefined)
      .then(() => ended.push(whose));
  const all = [call("a-1"), call("a-1", true), call("a-1"), call("a-1"), call("b-2"), call("b-2"), call("c-3")];
  await soon();
  expect(going.map((one) => one.whose)).toEqual(["a-1", "a-1", "b-2"]);
  expect(new Set(held).size).toBe(3);
  going.splice(1, 1)[0]!.end();
  await soon();
  expect(going.map((one) => one.whose)).toEqual(["a-1", "b-2", "a-1"]);
  while (going.length) {
    expect(going.length).toBeLessThanOrEqual(3);
    expect(going.filter((one) => one.whose === "a-1").length).toBeLessThanOrEqual(2);
    going.shift()!.end();
    await soon();
  }
  await Promise.all(all);
  expect(ended.sort()).toEqual(["a-1", "a-1", "a-1", "a-1", "b-2", "b-2", "c-3"]);
});
