import { expect, test } from "vitest";
import type { Client } from "../src/wire/client";
import { NoAnswer } from "../src/wire/client";
import { Reader } from "../src/wire/reader";
import type { Ledger } from "../src/wire/state";

/** A reader whose answers come when and in the order that the test gives them. */
const slow = () => {
  const open: { answer: (value: unknown) => void; fail: () => void }[] = [];
  const client = { get: () => new Promise((answer, reject) => open.push({ answer, fail: () => reject(new NoAnswer("no answer")) })) } as unknown as Client;
  return { open, reader: new Reader(client, {} as Ledger, () => undefined) };
};

test("a list that was asked for before another and comes after it takes nothing back", async () => {
  const { open, reader } = slow();
  const [older, newer] = [reader.newest("/api/sessions"), reader.newest("/api/sessions")];
  open[1]!.answer(["what is left"]);
  expect(await newer).toEqual(["what is left"]);
  open[0]!.answer(["what is left", "what is gone"]);
  expect(await older).toBeUndefined();
});

test("lists that come in their order are taken, and those of other addresses do not count", async () => {
  const { open, reader } = slow();
  const [first, other, second] = [reader.newest("/api/sessions"), reader.newest("/api/asks"), reader.newest("/api/sessions")];
  open[1]!.answer("asks");
  open[0]!.answer("one");
  open[2]!.answer("two");
  expect(await Promise.all([first, other, second])).toEqual(["one", "asks", "two"]);
});

test("a list that cannot be read is null, and an older one is taken then", async () => {
  const { open, reader } = slow();
  const [older, newer] = [reader.newest("/api/sessions"), reader.newest("/api/sessions")];
  open[1]!.fail();
  expect(await newer).toBeNull();
  open[0]!.answer("older");
  expect(await older).toBe("older");
});
