import { expect, test, vi } from "vitest";
import { Turns } from "../src/wire/turns";

const soon = () => new Promise((done) => setTimeout(done, 0));

test("of many calls three go at once, two of one plugin, and each goes in the end", async () => {
  const turns = new Turns((_names, work) => work());
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

test("in all tabs together no more go at once, two of one plugin, and a tab takes whichever place is free", async () => {
  const [first, second] = [new Turns(), new Turns()];
  const going: { whose: string; end: () => void }[] = [];
  let ended = 0;
  const call = (tab: Turns, whose: string) => tab.take(whose, () => new Promise<void>((end) => going.push({ whose, end }))).then(() => void (ended += 1));
  const held = async () => (await navigator.locks.query()).held!.filter((one) => /^placet-half-call-\d$/.test(one.name!)).length;
  const all = [call(first, "a-1"), call(second, "a-1"), call(second, "a-1"), call(first, "a-1"), call(first, "b-2"), call(second, "c-3"), call(second, "d-4")];
  const left = new Map([["a-1", 4], ["b-2", 1], ["c-3", 1], ["d-4", 1]]);
  while (ended < all.length) {
    const ofOne = left.get("a-1")!;
    await vi.waitFor(() => expect(going.length).toBe(Math.min(3, all.length - ended - ofOne + Math.min(2, ofOne))));
    expect(await held()).toBe(going.length);
    expect(going.filter((one) => one.whose === "a-1").length).toBeLessThanOrEqual(2);
    const [one] = going.splice(ended % going.length, 1);
    left.set(one!.whose, left.get(one!.whose)! - 1);
    const before = ended;
    one!.end();
    await vi.waitFor(() => expect(ended).toBe(before + 1));
  }
  await Promise.all(all);
  expect(await held()).toBe(0);
});

test("a call that fails gives its place back and says why", async () => {
  const turns = new Turns();
  await expect(turns.take("a-1", () => Promise.reject(new Error("the host half says no")))).rejects.toThrow("the host half says no");
  expect(await turns.take("a-1", () => Promise.resolve(7))).toBe(7);
});
