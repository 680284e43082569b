import { describe, expect, it, vi } from "vitest";
import { referenceAt, referencesFor } from "../src/composer/references";
import { openMatters } from "../src/inbox/matters";
import { pluginCall, runState } from "../src/plugin/call";
import { codeReading, isNew } from "../src/plugin/reading";
import { grouped, isUp, offered, startsOf } from "../src/plugin/rows";
import { rowStatus } from "../src/plugin/status";
import { callArguments } from "../src/tool/result";
import { type Client, NoAnswer, Refused } from "../src/wire/client";
import { Plugins } from "../src/wire/plugins";
import type { AskView, Consent, PluginView } from "../src/wire/shapes";
import { en } from "../src/words/en";

const half = { status: "running", provides: [], waitingFor: [], handlers: [] } as const;
const version = (name: string) => ({ package: name, name: "n", purpose: `purpose of ${name}`, hasHostHalf: true, hasClientHalf: true, digest: "", definedAt: 0, consented: true });
const attempt = (run: string, name: string, status: string) =>
  ({ run, package: name, mode: "run", status, host: half, client: { status: "running", waitingFor: [] }, phase: null, error: null, detail: null, requestedAt: 0, by: null }) as unknown as PluginView["latest"];
const active = (run: string, name: string, status = "running") =>
  ({ run, package: name, status, host: half, client: { status: "running", waitingFor: [] }, clientHalf: true, startedAt: 0 }) as unknown as PluginView["activeRun"];
const plugin = (id: string, more: Partial<PluginView> = {}): PluginView => ({
  plugin: id, session: "s-1", sessionName: { text: "", origin: "title" }, name: id, purpose: "", state: "defined", packages: [version("pkg-1"), version("pkg-2")], current: null, next: null, activeRun: null, latest: null, pending: null,
  future: false, consents: [], diagnostics: [], ...more,
});
const pending = { run: "run-1", package: "pkg-2", mode: "update", requestedAt: 0 } as const;

describe("rows of the panel", () => {
  it("m7: this session first, and in each group what waits first", () => {
    const rows = grouped([plugin("a-1", { session: "s-2" }), plugin("b-2"), plugin("c-3", { pending, session: "s-2" }), plugin("d-4", { pending })], "s-1");
    expect(rows.here.map((one) => one.plugin)).toEqual(["d-4", "b-2"]);
    expect(rows.others.map((one) => one.plugin)).toEqual(["c-3", "a-1"]);
  });
  it("m9, m10: offers the wanted version, in the mode that fits, and the way back from one that failed", () => {
    expect(offered(plugin("a-1"))).toBe("pkg-2");
    expect(startsOf(plugin("a-1"), "pkg-2")).toEqual([{ package: "pkg-2", mode: "run", word: "run" }]);
    const failed = plugin("a-1", { state: "failed", current: "pkg-1", next: "pkg-2", latest: attempt("run-2", "pkg-2", "failed") });
    expect(startsOf(failed, "pkg-2")).toEqual([{ package: "pkg-2", mode: "update", word: "retry" }, { package: "pkg-1", mode: "run", word: "back" }]);
    expect(startsOf(plugin("a-1", { pending }), "pkg-2")).toEqual([]);
  });
  it("m9: what is up can be stopped, also where its drawing failed and its host half goes on", () => {
    expect(["client-pending", "running", "waiting", "failed", "starting-host"].map((status) => isUp(plugin("a-1", { activeRun: active("run-1", "pkg-1", status) })))).toEqual([true, true, true, true, false]);
    expect(isUp(plugin("a-1", { latest: attempt("run-1", "pkg-1", "failed") }))).toBe(false);
  });
  it("i21: a refused update stands beside the version that still runs", () => {
    const both = plugin("a-1", { state: "rejected", current: "pkg-1", next: "pkg-2", latest: attempt("run-2", "pkg-2", "rejected"), activeRun: active("run-1", "pkg-1") });
    expect(rowStatus(both, en).map((look) => look.word)).toEqual(["pkg-2 rejected", "pkg-1 running"]);
    expect(rowStatus(plugin("a-1", { state: "cancelled", latest: attempt("run-2", "pkg-2", "cancelled") }), en)).toMatchObject([{ word: "Cancelled", icon: "slash" }]);
  });
});

describe("what waits", () => {
  it("is asks and requests together, oldest first, of one session or of all", () => {
    const ask = (id: string, askedAt: number) => ({ id, session: "s-1", askedAt, state: "open" }) as AskView;
    const consent = (run: string, requestedAt: number, state = "open", session = "s-2") => ({ run, session, requestedAt, state }) as Consent;
    const known = { asks: { "a-1": ask("a-1", 2), "a-2": { ...ask("a-2", 1), state: "decided" as const } }, consents: { "run-1": consent("run-1", 1), "run-2": consent("run-2", 3, "open", "s-1"), "run-3": consent("run-3", 0, "decided") } };
    expect(openMatters(known).map((one) => one.id)).toEqual(["run-1", "a-1", "run-2"]);
    expect(openMatters(known, "s-1").map((one) => one.id)).toEqual(["a-1", "run-2"]);
  });
});

describe("the code on a sheet", () => {
  const signed = { host: "a\\\\b\nc", client: "x" };
  it("must be shown whole where nothing was agreed to before, else what changed", () => {
    expect(codeReading({ signed, wants: { services: [], host: [], client: [], seats: [] }, before: null }).needed).toEqual(["client", "host"]);
    const changed = codeReading({ signed: { ...signed }, wants: { services: [], host: [], client: [], seats: [] }, before: { package: "pkg-1", host: "a\\\\b", client: "x" } });
    expect(changed.needed).toEqual(["change"]);
    expect([changed.change?.added, changed.change?.removed]).toEqual([1, 0]);
    expect(codeReading({ signed: { ...signed }, wants: { services: [], host: [], client: [], seats: [] }, before: { package: "pkg-1", ...signed } }).needed).toEqual([]);
  });
  it("is read out of the escaped form", () => expect(codeReading({ signed, wants: { services: [], host: [], client: [], seats: [] }, before: null }).halves[1]?.text).toBe("a\\b\nc"));
  it("tells what the version before did not name", () => {
    expect(isNew("timer", "host", { host: "ctx.files", client: null })).toBe(true);
    expect(isNew("files", "host", { host: "ctx.files", client: null })).toBe(false);
    expect(isNew("files", "host", null)).toBe(false);
  });
});

describe("calls of plugin tools", () => {
  const call = (name: string, given: object, meta = {}) => pluginCall({ name, result: { time: 0, text: "", isError: false, code: null, value: null, meta } }, callArguments(name, JSON.stringify(given).replaceAll("\\", "\\\\")));
  it("m14: a define card comes from the call and its result alone", () => {
    const found = call("cordis_define", { plugin: { kind: "new", idPrefix: "cal" }, name: "N", purpose: "P", code: { client: "return 1", host: "a\nb" } }, { pluginId: "cal-1", packageId: "pkg-1" });
    expect(found).toMatchObject({ kind: "define", plugin: "cal-1", package: "pkg-1", existing: false, name: "N", purpose: "P" });
    expect(found?.kind === "define" && found.halves.map((one) => [one.name, one.shown.lineCount])).toEqual([["client", 1], ["host", 2]]);
  });
  it("leaves what it cannot read to the plain card", () => {
    expect(call("cordis_define", { code: 7 })).toBeNull();
    expect(call("bash", { command: "ls" })).toBeNull();
    expect(pluginCall({ name: "cordis_run", result: null }, callArguments("cordis_run", "{oops"))).toBeNull();
  });
  it("m15: a run card tells what became of its run", () => {
    const row = plugin("cal-1", { latest: attempt("run-2", "pkg-2", "failed"), activeRun: active("run-1", "pkg-1") });
    expect(["run-2", "run-1", "run-0"].map((run) => runState([row], "cal-1", run))).toEqual(["failed", "running", "superseded"]);
    expect(runState([], "cal-1", "run-1")).toBe("removed");
  });
});

describe("naming a plugin while writing (m18)", () => {
  it("finds the word at the caret, and nothing inside of another word", () => {
    expect(referenceAt("fix @ca", 7)).toEqual({ from: 4, typed: "ca" });
    expect(referenceAt("@", 1)).toEqual({ from: 0, typed: "" });
    expect(referenceAt("me@ca", 5)).toBeNull();
    expect(referenceAt("fix @cal-1 now", 14)).toBeNull();
  });
  it("offers this session's plugins only, with the purpose of the base version", () => {
    const all = [plugin("cal-1", { next: "pkg-1" }), plugin("cal-2", { session: "s-2" }), plugin("tab-3")];
    expect(referencesFor(all, "s-1", "c")).toEqual([{ id: "cal-1", name: "n", purpose: "purpose of pkg-1" }]);
  });
});

describe("what a page says of a half", () => {
  const asking = (answers: (Error | { source: string })[]) => {
    const get = vi.fn(async () => {
      const answer = answers.shift()!;
      if (answer instanceof Error) throw answer;
      return answer;
    });
    return { get, plugins: new Plugins({ get } as unknown as Client, {} as never, {} as never) };
  };
  it("is not that it failed where the connection broke: the source is asked for again", async () => {
    vi.useFakeTimers();
    const { plugins, get } = asking([new NoAnswer("gone"), new NoAnswer("gone"), { source: "return 1" }]);
    const source = plugins.half("a-1", "run-1");
    await vi.runAllTimersAsync();
    expect(await source).toBe("return 1");
    expect(get).toHaveBeenCalledTimes(3);
    vi.useRealTimers();
  });
  it("is said at once where the server refuses, and at last where it never answers", async () => {
    vi.useFakeTimers();
    const refused = asking([new Refused(409, "not-active", "", null, null)]);
    await expect(refused.plugins.half("a-1", "run-1")).rejects.toBeInstanceOf(Refused);
    const silent = asking(Array.from({ length: 9 }, () => new NoAnswer("gone")));
    const never = expect(silent.plugins.half("a-1", "run-1")).rejects.toBeInstanceOf(NoAnswer);
    await vi.runAllTimersAsync();
    await never;
    expect(silent.get).toHaveBeenCalledTimes(4);
    vi.useRealTimers();
  });
});
