import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ask, talkEvents } from "../dev/fixtures";
import { type Talk, blank, fold } from "../src/session/fold";
import { ownerOf } from "../src/tool/owner";
import { appearedOf } from "../src/tool/result";
import { toolStatus } from "../src/tool/status";
import type { LogEvent } from "../src/wire/shapes";
import { en } from "../src/words/en";

const events = talkEvents(await ask({ id: "a-9" }));
const tools = (talk: Talk) => talk.order.flatMap((key) => (talk.entries[key]!.kind === "tool" ? [talk.entries[key]!] : []));

describe("the fold of a session", () => {
  it("gives the same talk in one piece, event by event, and with events seen twice", () => {
    const whole = fold(blank, events);
    expect(events.reduce((talk, event) => fold(talk, [event]), blank)).toEqual(whole);
    expect(fold(fold(whole, events), events.slice(3, 9))).toBe(whole);
  });
  it("does not change what it was given", () => {
    const before = fold(blank, events.slice(0, 10));
    const copy = structuredClone(before);
    fold(before, events.slice(10));
    expect(before).toEqual(copy);
  });
  it("knows which asks are open", () => expect(fold(blank, events).openAsks).toEqual(["a-9"]));
  it("tells each call by the log alone", () => {
    const words = tools(fold(blank, events)).map((call) => call.kind === "tool" && toolStatus(call, en, true).word);
    expect(words).toEqual(["Ran, exit code 0", "Not run", "Ran, exit code 0", "Denied by the sandbox", "Waiting for you"]);
  });
  it("names who stopped the turn that an ask ended with", () => {
    const by = { kind: "person", name: "Ada", channel: "page" };
    const more = [
      { type: "turn/abort", data: { turn: 1, reason: "user", by } },
      { type: "approval/decided", data: { id: "a-9", outcome: "cancelled", detail: "stopped", who: { kind: "system", name: "placet" }, channel: "worker" } },
    ].map((row, at) => ({ session: "s", seq: events.at(-1)!.seq + 1 + at, time: 1, key: `more${at}`, cursor: "1", ...row })) as LogEvent[];
    const call = tools(fold(blank, [...events, ...more])).at(-1);
    expect(call?.kind === "tool" && call.decisions["a-9"]).toMatchObject({ outcome: "cancelled", stoppedBy: "Ada" });
  });
  it("starts in the middle of a log without harm", () => {
    for (let from = 0; from < events.length; from += 1) expect(() => fold(blank, events.slice(from))).not.toThrow();
  });
  it("shows a queued message once, in its later place when it is read", () => {
    const talk = fold(blank, events);
    expect(talk.order.filter((key) => key === "message:m-1")).toHaveLength(1);
    expect(talk.entries["message:m-3"]).toMatchObject({ queued: "next-turn" });
  });
  it("knows what a call has made that other programs run, and what of it was moved away", () => {
    const place = { turn: 1, step: 1, position: 0 };
    const meta = { appeared: [{ path: "Makefile", kind: "make", why: "make runs it" }, { path: 7 }] };
    const result = { ...place, name: "bash", text: "", isError: false, code: null, value: null, meta };
    const log = [["tool/call", { ...place, name: "bash", arguments: "{}" }], ["tool/result", result], ["notice", { level: "info", code: "moved-away", text: "x", path: "Makefile" }]] as const;
    const talk = fold(blank, log.map(([type, data], seq) => ({ session: "s", seq, time: seq, type, key: `k${seq}`, data, cursor: "1" })));
    const call = talk.entries["call:1.1.0"];
    expect(call?.kind === "tool" && appearedOf(call.result!.meta)).toEqual({ things: [meta.appeared[0]], more: 0, partly: false });
    expect(call).toMatchObject({ moved: ["Makefile"] });
  });
  it("tells a call that a plugin makes from one of the model, and a plugin's tool by its name", () => {
    const rows = [[0, "call_1"], [1000, "plugin demo-1 run-4"], [1001, "?"]] as const;
    const log = rows.map(([position, callId], seq) => ({ session: "s", seq, time: seq, type: "tool/call", key: `k${seq}`, cursor: "1", data: { turn: 1, step: 1, position, callId, name: "bash", arguments: "{}" } }));
    expect(tools(fold(blank, log as unknown as LogEvent[])).map((call) => call.kind === "tool" && call.caller)).toEqual([null, "demo-1", ""]);
    expect(["demo-1.act", "bash", "Demo-1.act", "demo-1.", "cordis_run"].map(ownerOf)).toEqual(["demo-1", null, null, null, null]);
  });
  it("survives events of unknown type and with missing fields", () => {
    const odd = ["tool/result", "approval/asked", "approval/decided", "turn/end", "agent/inbox", "cordis/x", "user/message"].map((type, seq) => ({ session: "s", seq, time: 1, type, key: `k${seq}`, data: {}, cursor: "1" }));
    expect(() => fold(blank, odd)).not.toThrow();
  });
});

const logs = join(import.meta.dirname, "../../tests/fixtures/logs");
const golden = existsSync(logs) ? readdirSync(logs).filter((name) => name.endsWith(".jsonl")) : [];

describe.skipIf(golden.length === 0)("golden logs", () => {
  it.each(golden)("%s folds, and every open ask of it is open here", (name) => {
    const rows = readFileSync(join(logs, name), "utf8").trim().split("\n").map((line) => JSON.parse(line) as LogEvent).filter((row) => typeof row.seq === "number");
    const talk = fold(blank, rows);
    const open = rows.filter((row) => row.type === "approval/asked" && !rows.some((other) => other.type === "approval/decided" && other.data.id === row.data.id));
    expect(talk.openAsks).toEqual(open.map((row) => row.data.id));
    expect(talk.head).toBe(rows.at(-1)!.seq);
  });
});
