import { callerOf } from "../tool/owner";
import { appearedOf } from "../tool/result";
import { type Jobs, withJob } from "../job/jobs";
import type { Decision, Json, LogEvent, Outcome, Subject, Who } from "../wire/shapes";

type Data = { [name: string]: Json };
export interface By {
  kind: string;
  name: string;
  channel?: string | null;
}

export interface Asked {
  id: string;
  seq: number;
  time: number;
  tool: string;
  reason: string | null;
  subject: Subject;
  digest: string;
  policy: string;
  call: string;
}

export interface ToolCall {
  kind: "tool";
  key: string;
  turn: number;
  step: number;
  position: number;
  name: string;
  /** The plugin that made the call, an empty text where it is not named; null for a call of the model. */
  caller: string | null;
  /** The model's argument text in the escaped form, or null where the call itself lies before the loaded window. */
  arguments: string | null;
  time: number;
  asks: Asked[];
  decisions: Record<string, Decision>;
  started: { time: number; mode: string; ask: string | null } | null;
  /** Paths that the call has made and that were moved away since. */
  moved: string[];
  result: { time: number; text: string; isError: boolean; code: string | null; value: Json; meta: Data } | null;
}

export type Entry =
  | ToolCall
  | { kind: "user"; key: string; id: string; text: string; time: number; source: { kind: string; name?: string }; by: By | null; queued: null | "next-turn" | "next-step"; withdrawn: boolean }
  | { kind: "assistant"; key: string; turn: number; step: number; text: string; reasoning: string; model: string; time: number; interrupted: boolean }
  | { kind: "notice"; key: string; level: string; code: string; text: string; time: number }
  | { kind: "switch"; key: string; what: "preset" | "mode" | "policy" | "model"; value: string; by: By | null; time: number }
  | { kind: "end"; key: string; turn: number; reason: string; detail: string; by: By | null; time: number }
  | { kind: "model-failed"; key: string; attempt: number; error: string; time: number };

export interface Talk {
  head: number;
  tail: number | null;
  order: string[];
  entries: Record<string, Entry>;
  turn: number;
  open: boolean;
  aborted: By | null;
  step: number;
  preset: string | null;
  mode: string | null;
  policy: string | null;
  model: string | null;
  title: string | null;
  archived: boolean;
  /** Ids of open asks, oldest first, as far as the loaded window tells. */
  openAsks: string[];
  asks: Record<string, string>;
  /** Commands in the background, by id, as far as the loaded window tells. */
  jobs: Jobs;
}

export const blank: Talk = {
  head: -1, tail: null, order: [], entries: {}, turn: 0, open: false, aborted: null, step: 0,
  preset: null, mode: null, policy: null, model: null, title: null, archived: false, openAsks: [], asks: {}, jobs: {},
};

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const number = (value: Json | undefined): number => (typeof value === "number" ? value : 0);
const object = (value: Json | undefined): Data => (value !== null && typeof value === "object" && !Array.isArray(value) ? value : {});
export const byOf = (value: Json | undefined): By | null => (value && typeof value === "object" ? (value as unknown as By) : null);
const strings = (value: Json | undefined): string[] => (Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : []);

/** Applies events to what is known of a session. Pure: the same events give the same talk; events already seen change nothing. */
export const fold = (talk: Talk, events: readonly LogEvent[]): Talk => {
  const fresh = events.filter((event) => event.seq > talk.head);
  if (!fresh.length) return talk;
  const next: Talk = { ...talk, order: [...talk.order], entries: { ...talk.entries }, openAsks: [...talk.openAsks], asks: { ...talk.asks } };
  for (const event of fresh) {
    apply(next, event);
    next.head = event.seq;
    next.tail ??= event.seq;
  }
  return next;
};

const put = (talk: Talk, entry: Entry) => {
  if (!(entry.key in talk.entries)) talk.order.push(entry.key);
  talk.entries[entry.key] = entry;
};

const callAt = (talk: Talk, turn: number, step: number, position: number, time: number): ToolCall => {
  const key = `call:${turn}.${step}.${position}`;
  const known = talk.entries[key];
  if (known?.kind === "tool") return known;
  return { kind: "tool", key, turn, step, position, name: "", caller: callerOf(position, ""), arguments: null, time, asks: [], decisions: {}, started: null, moved: [], result: null };
};

const callOf = (talk: Talk, event: LogEvent): ToolCall =>
  callAt(talk, number(event.data.turn), number(event.data.step), number(event.data.position), event.time);

const apply = (talk: Talk, event: LogEvent): void => {
  const { data, time, type } = event;
  switch (type) {
    case "session/created":
    case "session/renamed":
      talk.title = typeof data.title === "string" ? data.title : talk.title;
      return;
    case "session/archived":
      talk.archived = data.archived === true;
      return;
    case "session/model":
      if (talk.model !== null || event.seq > 3) put(talk, { kind: "switch", key: event.key, what: "model", value: text(data.model), by: byOf(data.by), time });
      talk.model = text(data.model);
      return;
    case "permission/preset":
      if (event.seq > 3) put(talk, { kind: "switch", key: event.key, what: "preset", value: text(data.preset), by: byOf(data.by), time });
      talk.preset = text(data.preset);
      return;
    case "sandbox/mode":
      talk.mode = text(data.mode);
      if (event.seq > 3 && !followsPreset(talk)) put(talk, { kind: "switch", key: event.key, what: "mode", value: talk.mode, by: byOf(data.by), time });
      return;
    case "approval/policy":
      talk.policy = text(data.policy);
      if (event.seq > 3 && !followsPreset(talk)) put(talk, { kind: "switch", key: event.key, what: "policy", value: talk.policy, by: byOf(data.by), time });
      return;
    case "agent/inbox":
      return mailbox(talk, event);
    case "user/message": {
      const key = `message:${text(data.id)}`;
      const waited = talk.entries[key];
      if (waited) talk.order.splice(talk.order.indexOf(key), 1);
      delete talk.entries[key];
      const by = waited?.kind === "user" ? waited.by : null;
      put(talk, { kind: "user", key, id: text(data.id), text: text(data.text), time, source: sourceOf(data.source), by, queued: null, withdrawn: false });
      return;
    }
    case "turn/start":
      talk.turn = number(data.turn);
      talk.open = true;
      talk.aborted = null;
      talk.step = 0;
      return;
    case "step/start":
      talk.step = number(data.step);
      return;
    case "turn/abort":
      talk.aborted = byOf(data.by) ?? { kind: "person", name: "" };
      return;
    case "turn/end": {
      const reason = object(data.reason);
      put(talk, { kind: "end", key: event.key, turn: number(data.turn), reason: text(reason.kind), detail: errorText(reason), by: talk.aborted, time });
      talk.open = false;
      talk.aborted = null;
      return;
    }
    case "assistant/message":
      if (text(data.text) || text(data.reasoning))
        put(talk, {
          kind: "assistant", key: event.key, turn: number(data.turn), step: number(data.step), text: text(data.text), reasoning: text(data.reasoning),
          model: text(data.model), time, interrupted: data.interrupted === true,
        });
      return;
    case "model/failed":
      put(talk, { kind: "model-failed", key: `model-failed:${number(data.turn)}.${number(data.step)}`, attempt: number(data.attempt), error: text(data.error), time });
      return;
    case "tool/call":
      put(talk, { ...callOf(talk, event), name: text(data.name), caller: callerOf(number(data.position), text(data.callId)), arguments: text(data.arguments), time });
      return;
    case "tool/started":
      put(talk, { ...callOf(talk, event), started: { time, mode: text(data.mode), ask: typeof data.ask === "string" ? data.ask : null } });
      return;
    case "tool/result": {
      const call = callOf(talk, event);
      const result = { time, text: text(data.text), isError: data.isError === true, code: typeof data.code === "string" ? data.code : null, value: data.value ?? null, meta: object(data.meta) };
      put(talk, { ...call, name: call.name || text(data.name), result });
      return;
    }
    case "job/started":
    case "job/ended":
      talk.jobs = withJob(talk.jobs, event);
      return;
    case "approval/asked":
      return asked(talk, event);
    case "approval/decided":
      return decided(talk, event);
    case "notice":
      if (data.code === "moved-away") movedAway(talk, text(data.path));
      put(talk, { kind: "notice", key: event.key, level: text(data.level), code: text(data.code), text: text(data.text), time });
      return;
    default:
      return; // types that show nothing of their own here
  }
};

const movedAway = (talk: Talk, path: string): void => {
  for (const entry of Object.values(talk.entries))
    if (entry.kind === "tool" && appearedOf(entry.result?.meta ?? {}).things.some((one) => one.path === path))
      talk.entries[entry.key] = { ...entry, moved: [...entry.moved, path] };
};

const followsPreset = (talk: Talk): boolean => {
  const last = talk.entries[talk.order.at(-1) ?? ""];
  return last?.kind === "switch" && last.what === "preset";
};

const sourceOf = (value: Json | undefined): { kind: string; name?: string } => ({ kind: "user", ...(object(value) as object) });

const errorText = (reason: Data): string => {
  const told = reason.error ?? reason.reason;
  if (typeof told === "string") return told;
  return text(object(told).message);
};

const mailbox = (talk: Talk, event: LogEvent): void => {
  const message = object(event.data.put);
  if (typeof message.id === "string") {
    const source = sourceOf(message.source);
    const key = `message:${message.id}`;
    if (talk.entries[key]) return;
    const queued = message.target === "next-step" ? "next-step" : "next-turn";
    put(talk, { kind: "user", key, id: message.id, text: text(message.text), time: event.time, source, by: byOf(message.by), queued, withdrawn: false });
  }
  for (const id of strings(event.data.cancel)) {
    const waiting = talk.entries[`message:${id}`];
    if (waiting?.kind === "user" && waiting.queued) talk.entries[waiting.key] = { ...waiting, withdrawn: true };
  }
};

const asked = (talk: Talk, event: LogEvent): void => {
  const { data } = event;
  const place = object(data.call);
  const call = callAt(talk, number(place.turn), number(place.step), number(place.position), event.time);
  const subject = data.subject as unknown as Subject;
  const one: Asked = {
    id: text(data.id), seq: event.seq, time: event.time, tool: text(data.toolName), reason: typeof data.reason === "string" ? data.reason : null,
    subject, digest: text(data.digest), policy: text(data.policy), call: call.key,
  };
  put(talk, { ...call, name: call.name || one.tool, asks: [...call.asks, one] });
  talk.openAsks.push(one.id);
  talk.asks[one.id] = call.key;
};

/** The decision that an event holds; `stop` is who stopped its turn, for the ask that ended with it. */
export const decisionOf = (event: LogEvent, stop: By | null = null): Decision => {
  const { data } = event;
  return {
    outcome: text(data.outcome) as Outcome,
    detail: typeof data.detail === "string" ? data.detail : null,
    who: data.who as unknown as Who,
    channel: text(data.channel),
    evidence: typeof data.evidence === "string" ? data.evidence : null,
    strength: typeof data.strength === "string" ? data.strength : null,
    time: event.time,
    digest: text(data.digest),
    feedback: typeof data.feedback === "string" ? data.feedback : null,
    stoppedBy: data.detail === "stopped" && stop ? stop.name : null,
  };
};

const decided = (talk: Talk, event: LogEvent): void => {
  const id = text(event.data.id);
  talk.openAsks = talk.openAsks.filter((one) => one !== id);
  const call = talk.entries[talk.asks[id] ?? ""];
  if (call?.kind === "tool") put(talk, { ...call, decisions: { ...call.decisions, [id]: decisionOf(event, talk.aborted) } });
};
