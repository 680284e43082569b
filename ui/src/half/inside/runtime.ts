/** The worker that a half runs in: React, the services, and one plugin's source. */
import * as React from "react";
import type { Json } from "../../wire/shapes";
import type { Told } from "../wire";
import { makeContext } from "./context";
import { lossless } from "./lossless";
import { Outbox } from "./outbox";
import { shadows, shrink } from "./realm";
import { Renderer } from "./renderer";
import { Events, type Half, Questions, layoutService, slotsService, themeService, timerService } from "./services";

const scope = globalThis as unknown as {
  postMessage(text: string): void;
  addEventListener(type: string, listener: (event: never) => void): void;
};
const post = scope.postMessage.bind(scope);
const listen = scope.addEventListener.bind(scope);
const now = performance.now.bind(performance);
const AsyncFunction = (async () => undefined).constructor as new (...args: string[]) => (...args: unknown[]) => Promise<unknown>;

const outbox = new Outbox(post);

/** Lines that V8 puts before the body of a function made from text. */
const ABOVE = 2;
const FILE = "half.js";

const messageOf = (error: unknown): string => (error instanceof Error ? `${error.name === "Error" ? "" : `${error.name}: `}${error.message}` : String(error)).slice(0, 2_000);
const stackOf = (error: unknown): string =>
  String((error as { stack?: unknown } | null)?.stack ?? "")
    .split("\n")
    .filter((line) => line.includes(FILE))
    .map((line) => line.trim().replace(/half\.js:(\d+)/, (_all, line: string) => `${FILE}:${Number(line) - ABOVE}`))
    .slice(0, 20)
    .join("\n")
    .slice(0, 4_000);

const trouble = (error: unknown): void => outbox.say(["trouble", messageOf(error), stackOf(error)]);

const half: Half = {
  say: (said) => outbox.say(said),
  trouble,
  clock: {
    setTimeout: setTimeout.bind(globalThis) as Half["clock"]["setTimeout"],
    clearTimeout: clearTimeout.bind(globalThis) as Half["clock"]["clearTimeout"],
    setInterval: setInterval.bind(globalThis) as Half["clock"]["setInterval"],
    clearInterval: clearInterval.bind(globalThis) as Half["clock"]["clearInterval"],
  },
  views: new Map(),
  facts: new Map(),
};
const renderer = new Renderer({
  operations: (root, acknowledged, operations) => outbox.operations(root, acknowledged, operations),
  broken: (root, error, where) => outbox.say(["broken", root, messageOf(error), stackOf(error) || where.trim().slice(0, 2_000)]),
  trouble,
});
const questions = new Questions((said) => outbox.say(said));
const events = new Events(half);

let lines = 0;
let linesFrom = 0;
const log = (level: string) => (...parts: unknown[]): void => {
  if (now() - linesFrom > 1_000) {
    linesFrom = now();
    lines = 0;
  }
  lines += 1;
  if (lines > 50) return;
  const text = parts.map((part) => (typeof part === "string" ? part : part instanceof Error ? `${messageOf(part)}\n${stackOf(part)}` : written(part))).join(" ");
  outbox.say(["log", level, text.slice(0, 2_000)]);
};
const written = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
};
const ownConsole = Object.freeze({ log: log("log"), info: log("info"), warn: log("warn"), error: log("error"), debug: log("debug") });

let sheets = 0;
const styles = Object.freeze({
  insert(css: unknown): () => void {
    if (typeof css !== "string") throw new TypeError("styles.insert(css): css has to be a string.");
    if (css.length > 50_000) throw new RangeError("styles.insert(css): at most 50,000 characters.");
    const id = ++sheets;
    questions.ask("styles", "insert", { id, css }).then(
      (left) => Array.isArray(left) && left.length > 0 && ownConsole.warn(`styles.insert left out: ${left.join("; ")}`),
      trouble,
    );
    return () => void questions.ask("styles", "remove", { id }).catch(() => undefined);
  },
});

const host = Object.freeze({
  async call(method: unknown, args: unknown = null): Promise<Json> {
    if (typeof method !== "string" || !method) throw new TypeError("host.call(method, args): method has to be the name of a handler of the host half.");
    return questions.ask("host", "call", { method, args: lossless(args, `host.call(${JSON.stringify(method)}, args): args`) });
  },
});

const services = Object.freeze({
  slots: slotsService(half),
  timer: timerService(half),
  theme: themeService(half, questions),
  layout: layoutService(half, questions),
  sessions: Object.freeze({ current: (): Json => half.facts.get("session") ?? null }),
  toolCard: Object.freeze({ shown: (): Json => half.facts.get("toolCard") ?? [] }),
  locale: Object.freeze({ get: (): Json => half.facts.get("locale") ?? "en" }),
});

const failed = (phase: "client-load" | "client-apply", error: unknown): void => outbox.say(["failed", phase, messageOf(error), stackOf(error)]);

const pluginOf = (made: unknown): { inject: string[]; apply: (ctx: object) => unknown } => {
  if (made === undefined || made === null)
    throw new Error('The source returned nothing. End it with: return {inject: ["slots"], apply(ctx) { ... }}.');
  if (typeof made === "function") return { inject: [], apply: made as (ctx: object) => unknown };
  if (typeof made === "object" && typeof (made as { apply?: unknown }).apply === "function") {
    const { inject } = made as { inject?: unknown };
    if (inject !== undefined && !(Array.isArray(inject) && inject.every((name) => typeof name === "string"))) throw new TypeError('inject has to be a list of names of services, such as ["slots", "timer"].');
    return { inject: (inject as string[] | undefined) ?? [], apply: (ctx) => (made as { apply: (ctx: object) => unknown }).apply(ctx) };
  }
  throw new TypeError(`The source has to return a function or an object with apply(ctx); it returned ${Array.isArray(made) ? "a list" : typeof made === "object" ? "an object without apply" : `a ${typeof made}`}.`);
};

const start = async (source: string): Promise<void> => {
  const shadowed = shadows();
  const declared = new Set<string>();
  const context = makeContext(services, events, declared);
  const { default: _default, act: _act, captureOwnerStack: _capture, ...react } = React as unknown as Record<string, unknown>;
  let plugin: ReturnType<typeof pluginOf>;
  try {
    let body: (...args: unknown[]) => Promise<unknown>;
    try {
      body = new AsyncFunction("React", "console", "styles", "host", "ctx", ...shadowed.map(([name]) => name), `"use strict"; ${source}\n//# sourceURL=${FILE}`);
    } catch (error) {
      throw new SyntaxError(`${(error as Error).message}. A browser half is plain JavaScript: no JSX, no TypeScript, no import or export.`);
    }
    plugin = pluginOf(await body(Object.freeze(react), ownConsole, styles, host, context, ...shadowed.map(([, value]) => value)));
  } catch (error) {
    return failed("client-load", error);
  }
  const waiting = plugin.inject.filter((name) => !Object.hasOwn(services, name));
  if (waiting.length) return outbox.say(["applied", waiting]);
  for (const name of plugin.inject) declared.add(name);
  try {
    await plugin.apply(context);
  } catch (error) {
    return failed("client-apply", error);
  }
  outbox.say(["applied", []]);
};

const hear = (told: Told): void => {
  switch (told[0]) {
    case "start": {
      const { source, session, locale, theme } = told[1];
      half.facts.set("session", session).set("locale", locale).set("theme", theme);
      return void start(source);
    }
    case "mount": {
      const view = half.views.get(told[2]);
      if (view) renderer.mount(told[1], view, told[3] as Record<string, unknown>);
      return;
    }
    case "unmount":
      return renderer.unmount(told[1]);
    case "event":
      return renderer.event(told[1], told[3], told[4], told[5]);
    case "answer":
      return questions.answer(told[1], told[2], told[3]);
    case "fact":
      half.facts.set(told[1], told[2]);
      return events.tell(`${told[1]}/change`, told[2]);
    case "properties":
      return renderer.update(told[1], told[2] as Record<string, unknown>);
  }
};

listen("message", (event: MessageEvent<unknown>) => {
  const text = event.data;
  if (typeof text !== "string") return;
  if (text.startsWith("ping ")) return post(`pong ${text.slice(5)}`);
  if (text === "go") return outbox.go();
  hear(JSON.parse(text) as Told);
});
listen("unhandledrejection", (event: PromiseRejectionEvent) => {
  event.preventDefault();
  trouble(event.reason);
});
listen("error", (event: ErrorEvent) => {
  event.preventDefault();
  trouble(event.error);
});

const stuck = shrink(globalThis);
Object.defineProperty(globalThis, "console", { value: ownConsole }); // React speaks to it too
if (stuck.length) ownConsole.debug(`could not take away: ${stuck.join(", ")}`);
outbox.say(["ready"]);
