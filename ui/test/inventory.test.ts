import { afterEach, describe, expect, it, vi } from "vitest";
import type { Client } from "../src/wire/client";
import { stepped } from "../src/wire/inventory";
import { Plugins } from "../src/wire/plugins";
import { Reader } from "../src/wire/reader";
import type { LogEvent, PluginView } from "../src/wire/shapes";
import { Ledger } from "../src/wire/state";

const host = { status: "running", provides: [], waitingFor: [], handlers: [] } as const;
const version = (name: string, client = true) => ({ package: name, name: "n", purpose: "", hasHostHalf: true, hasClientHalf: client, digest: "", definedAt: 0, consented: true });
const attempt = (run: string, status: string, name = "pkg-1") =>
  ({ run, package: name, mode: "run", status, host, client: { status: "pending", waitingFor: [] }, phase: null, error: null, detail: null, requestedAt: 0, by: null }) as unknown as NonNullable<PluginView["latest"]>;
const plugin = (more: Partial<PluginView> = {}): PluginView => ({
  plugin: "cal-1", session: "s-1", sessionName: { text: "", origin: "title" }, name: "", purpose: "", state: "starting-host", packages: [version("pkg-1")], current: null, next: null, activeRun: null,
  latest: attempt("run-2", "starting-host"), pending: null, future: false, consents: [], diagnostics: [], ...more,
});
const event = (type: string, data: LogEvent["data"] = {}): LogEvent => ({ session: "s-1", seq: 1, time: 7, type, cursor: "1", data: { run: "run-2", plugin: "cal-1", provides: [], waitingFor: [], handlers: ["add"], ...data } }) as LogEvent;

describe("an event of the log in the inventory of the page", () => {
  it("l2 names the active run as soon as its host half is up, with what that offers", () => {
    const [row] = stepped([plugin()], event("cordis/ready"));
    expect(row).toMatchObject({ state: "client-pending", activeRun: { run: "run-2", package: "pkg-1", status: "client-pending", clientHalf: true, startedAt: 7, host: { status: "running", handlers: ["add"] } } });
    expect(stepped([plugin()], event("cordis/ready", { waitingFor: ["feeds"] }))[0]?.activeRun?.host).toMatchObject({ status: "waiting", waitingFor: ["feeds"] });
  });
  it("changes nothing where the inventory is ahead of it, or does not know the run", () => {
    for (const row of [plugin({ latest: attempt("run-2", "stopped") }), plugin({ latest: attempt("run-2", "running") }), plugin({ latest: attempt("run-3", "starting-host") }), plugin({ latest: null }), plugin({ session: "s-2" }), plugin({ packages: [version("pkg-1", false)] })]) {
      const rows = [row];
      expect(stepped(rows, event("cordis/ready"))).toBe(rows);
    }
  });
  it("l19 takes away the active run when exactly that is over", () => {
    const up = stepped([plugin()], event("cordis/ready"));
    expect(stepped(up, event("cordis/stopped"))[0]?.activeRun).toBeNull();
    expect(stepped(up, event("cordis/settled", { status: "failed" }))[0]?.activeRun).toBeNull();
    expect(stepped(up, event("cordis/stopped", { run: "run-1" }))).toBe(up);
    expect(stepped(up, event("cordis/settled", { status: "running" }))).toBe(up);
    expect(stepped(up, event("cordis/settled", { status: "waiting" }))).toBe(up);
  });
});

describe("the inventory of the page", () => {
  afterEach(() => vi.useRealTimers());
  const held = () => {
    const answers: ((plugins: PluginView[]) => void)[] = [];
    const client = { get: () => new Promise((resolve) => answers.push((plugins) => resolve({ plugins, notices: [] }))) } as unknown as Client;
    const ledger = new Ledger();
    return { answers, ledger, plugins: new Plugins(client, new Reader(client, ledger, () => undefined), ledger) };
  };
  it("m13 what was heard while it was read is not undone by an answer that is older", async () => {
    const { answers, ledger, plugins } = held();
    ledger.set({ plugins: [plugin()] });
    const reading = plugins.load();
    plugins.hear(event("cordis/ready"));
    expect(ledger.now.plugins?.[0]?.activeRun?.run).toBe("run-2");
    answers[0]!([plugin()]);
    await reading;
    expect(ledger.now.plugins?.[0]?.activeRun?.run).toBe("run-2");
    ledger.close();
  });
  it("m13 is read at once after an event that it cannot follow by itself, and later after one that it can", async () => {
    vi.useFakeTimers();
    const { answers, ledger, plugins } = held();
    ledger.set({ plugins: [plugin()] });
    plugins.hear(event("cordis/ready"));
    await vi.advanceTimersByTimeAsync(100);
    expect(answers.length).toBe(0);
    plugins.hear(event("cordis/ready", { run: "run-9" }));
    await vi.advanceTimersByTimeAsync(30);
    expect(answers.length).toBe(1);
  });
});

describe("what is done soon", () => {
  afterEach(() => vi.useRealTimers());
  it("is done once, at the earliest of the times that were asked for", () => {
    vi.useFakeTimers();
    const ledger = new Ledger();
    const act = vi.fn();
    ledger.soon("x", 300, act);
    ledger.soon("x", 20, act);
    ledger.soon("x", 100, act);
    vi.advanceTimersByTime(25);
    expect(act).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1000);
    expect(act).toHaveBeenCalledTimes(1);
  });
});
