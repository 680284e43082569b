import { afterEach, beforeEach, expect, test, vi } from "vitest";

const NAME = "placet.counter";

/** The locks of one browser: held until what was given ends. */
const locks = () => {
  const held = new Set<string>();
  return {
    request: async (name: string, options: unknown, work?: (lock: object | null) => unknown) => {
      const given = work ?? (options as (lock: object | null) => unknown);
      if (held.has(name)) return given(null);
      held.add(name);
      try {
        return await given({});
      } finally {
        held.delete(name);
      }
    },
  };
};

/** One tab: a copy of the module, and a storage that has not heard yet what other tabs have written. */
const tab = async (stored: Record<string, string>): Promise<() => Promise<number>> => {
  vi.resetModules();
  const { nextCounter } = await import("../src/wire/counter");
  return () => {
    vi.stubGlobal("localStorage", {
      getItem: (name: string) => stored[name] ?? null,
      setItem: (name: string, value: string) => void (stored[name] = value),
    });
    return nextCounter();
  };
};

beforeEach(() => {
  vi.stubGlobal("navigator", { locks: locks() });
  vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ["Date"] });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("two tabs never take the same counter, also in one millisecond and before one hears of the other", async () => {
  const [one, other] = [await tab({}), await tab({})];
  const taken = [await one(), await other(), await one(), await other()];
  expect(new Set(taken).size).toBe(4);
});

test("counters of a tab rise, also where the clock is set back", async () => {
  const next = await tab({});
  const first = await next();
  vi.setSystemTime(1_600_000_000_000);
  expect(await next()).toBeGreaterThan(first);
});

test("a new tab begins above what this browser has used, also where the clock was set back meanwhile", async () => {
  const next = await tab({ [NAME]: "1800000000000000" });
  expect(await next()).toBeGreaterThan(1_800_000_000_000_000);
});

test("a counter is one that a browser counts to exactly", async () => {
  const next = await tab({});
  expect(Number.isSafeInteger(await next())).toBe(true);
});
