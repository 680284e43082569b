import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import guard from "virtual:half/guard";
import runtime from "virtual:half/runtime";
import { makeContext } from "../src/half/inside/context";
import { lossless } from "../src/half/inside/lossless";
import { Outbox } from "../src/half/inside/outbox";
import { shadows, shrink } from "../src/half/inside/realm";
import { Events, type Half, slotsService } from "../src/half/inside/services";
import { checkContrast, contrast, tokensOf } from "../src/half/theme";
import { bounds, type Said } from "../src/half/wire";

const half = (): Half & { said: Said[] } => {
  const said: Said[] = [];
  return { said, say: (one) => said.push(one), trouble: () => undefined, clock: null as never, views: new Map(), facts: new Map() };
};
const turns = () => new Promise((resolve) => setTimeout(resolve, 0));

test("what runs in the worker is below 60 kB compressed, and the guard is small", () => {
  expect(gzipSync(runtime, { level: 9 }).length).toBeLessThan(60_000);
  expect(gzipSync(guard, { level: 9 }).length).toBeLessThan(2_000);
});

test("one message is on its way at a time, and none is longer than the guard takes", async () => {
  const sent: string[] = [];
  const outbox = new Outbox((text) => sent.push(text));
  outbox.operations(1, 0, Array.from({ length: 60 }, (_, at) => ["t", at + 1, "x".repeat(10_000)]));
  await turns();
  expect(sent.length).toBe(1);
  for (let more = 0; more < 10; more += 1) outbox.go();
  expect(sent.length).toBeGreaterThan(2);
  expect(Math.max(...sent.map((text) => text.length))).toBeLessThanOrEqual(bounds.message);
  const operations = sent.flatMap((text) => (JSON.parse(text) as Said[]).flatMap((said) => (said[0] === "ops" ? said[3] : [])));
  expect(operations.map((one) => one[1])).toEqual(Array.from({ length: 60 }, (_, at) => at + 1));
});

test("what is said right after something else goes along with it", async () => {
  const sent: string[] = [];
  const outbox = new Outbox((text) => sent.push(text));
  const apply = async () => outbox.say(["register", 1, "session.header", "", 0, 48]);
  await apply();
  outbox.say(["applied", []]);
  await turns();
  expect(sent).toEqual(['[["register",1,"session.header","",0,48],["applied",[]]]']);
});

test("a text that changes again before it was sent goes once", async () => {
  const sent: string[] = [];
  const outbox = new Outbox((text) => sent.push(text));
  outbox.operations(1, 0, [["t", 5, "a"]]);
  outbox.operations(1, 3, [["t", 5, "b"]]);
  await turns();
  expect(sent).toEqual(['[["ops",1,3,[["t",5,"b"]]]]']);
});

test("a single thing too long is left out and told of, and what comes after it arrives", async () => {
  const sent: string[] = [];
  const outbox = new Outbox((text) => sent.push(text));
  outbox.operations(4, 0, [["t", 1, "x".repeat(bounds.message)]]);
  outbox.say(["log", "log", "after"]);
  await turns();
  outbox.go();
  expect(sent.map((text) => (JSON.parse(text) as Said[])[0]![0])).toEqual(["broken", "log"]);
});

test("l7 only plain JSON goes to the host half, and what does not is named with its place and the rule", () => {
  const cycle: { me?: unknown } = {};
  cycle.me = cycle;
  expect(lossless({ a: [1, "x", null, true, { b: 2 }] }, "args")).toEqual({ a: [1, "x", null, true, { b: 2 }] });
  for (const [value, words] of [
    [{ a: undefined }, /args\.a is undefined.*plain JSON/],
    [[() => 1], /args\[0\] is a function/],
    [new Map(), /no plain object \(Map\)/],
    [new Date(), /no plain object \(Date\)/],
    [-0, /args is -0/],
    [Number.NaN, /NaN/],
    [1n, /bigint/],
    [cycle, /holds itself/],
    [JSON.parse('{"__proto__":1}'), /__proto__/],
  ] as [unknown, RegExp][])
    expect(() => lossless(value, "args")).toThrow(words);
});

test("l10 l11 k9 a service is a property where it was declared, and `get` reaches it without", () => {
  const services = { slots: {}, timer: { timeout: () => 1 } };
  const plain = makeContext(services, new Events(half()), new Set()) as Record<string, never> & { get: (name: string) => unknown };
  expect(plain.get("slots")).toBe(services.slots);
  expect(plain.get("nothing")).toBe(undefined);
  expect(() => plain.slots).toThrow(/inject: \["slots"\]/);
  expect(() => plain.timeout).toThrow(/needs the service timer/);
  expect(() => plain.nothing).toThrow(/there is no such service/);
  const declared = makeContext(services, new Events(half()), new Set(["slots", "timer"])) as Record<string, unknown>;
  expect([declared.slots, declared.timeout]).toEqual([services.slots, services.timer.timeout]);
});

test("l10 k10 k11 the context gives no way up, cannot be written, and answers only for what it has", () => {
  const context = makeContext({ slots: {} }, new Events(half()), new Set()) as Record<string | symbol, unknown>;
  for (const name of ["root", "parent", "scope", "fiber", "plugin", "set", "mixin", "extend"]) expect(() => context[name]).toThrow(/not for plugins/);
  expect(() => {
    context.mine = 1;
  }).toThrow(/cannot be set/);
  expect(context[Symbol.iterator]).toBe(undefined);
  expect(["get" in context, "slots" in context, "mine" in context]).toEqual([true, false, false]);
  expect(() => (context.provide as (name: string) => void)("x")).toThrow(/provides no services/);
});

test("l12 a view is registered with a name that there is, and gets its own undo", () => {
  const one = half();
  const slots = slotsService(one);
  const View = () => null;
  expect(() => slots.register(undefined, View)).toThrow(/object with a name/);
  expect(() => slots.register({ name: "nowhere" }, View)).toThrow(/There are shell\.overlay/);
  expect(() => slots.register({ name: "tool.call.toolview" }, View)).toThrow(/needs a key/);
  expect(() => slots.register({ name: "session.header" }, "Text")).toThrow(/component/);
  const undo = slots.register({ name: "settings.section", height: 9_999 }, View);
  undo();
  undo();
  expect(one.said).toEqual([["register", 1, "settings.section", "", 0, 480], ["unregister", 1]]);
});

test("l3 l4 what stands before the source names the way, and process and Buffer are undefined", () => {
  const all = new Map(shadows());
  for (const name of ["fetch", "setTimeout", "setInterval", "clearTimeout", "clearInterval", "require"]) expect(() => (all.get(name) as () => void)()).toThrow(new RegExp(`^${name} is not here\\. `));
  expect(() => (all.get("harness") as { handle: unknown }).handle).toThrow(/belongs to the host half/);
  expect([all.has("process"), all.get("process"), all.get("Buffer")]).toEqual([true, undefined, undefined]);
});

test("a realm is made small up its whole chain", () => {
  class Upper {
    fetch() {}
  }
  const scope = Object.assign(Object.create(Upper.prototype) as object, { WebSocket: 1, Math: 2, indexedDB: 3 });
  expect(shrink(scope)).toEqual([]);
  expect([Reflect.ownKeys(scope), "fetch" in scope, "constructor" in Upper.prototype && Object.hasOwn(Upper.prototype, "constructor")]).toEqual([["Math"], false, false]);
});

test("l14 tokens are read by name and kind", () => {
  expect(tokensOf({ petrol: "#0F5563", "--ink": { light: "#000000", dark: "#ffffff" }, "r-2": "6px" })).toEqual({ petrol: ["#0f5563", "#0f5563"], ink: ["#000000", "#ffffff"], "r-2": ["6px", "6px"] });
  for (const bad of [{ refuse: "#000000" }, { wait: "#000000" }, { ink: "url(http://x)" }, { ink: "red" }, { "r-1": "900px" }, { "s-1": "9px" }, { ink: { light: "#000000" } }, [], "x", { __proto__: null, constructor: "#000000" }]) expect(() => tokensOf(bad as never)).toThrow();
});

test("colours with which words could not be read are refused", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
  const base = { paper: ["#eff2f0", "#0f1413"], ink: ["#14201c", "#e8eeeb"], refuse: ["#9c2b26", "#f4a69f"] } as const;
  expect(() => checkContrast({ ink: ["#eeeeee", "#e8eeeb"] }, base)).toThrow(/ink on paper \(light\)/);
  expect(() => checkContrast({ paper: ["#9c2b26", "#0f1413"] }, base)).toThrow(/paper/);
  expect(() => checkContrast({ ink: ["#000000", "#ffffff"] }, base)).not.toThrow();
});
