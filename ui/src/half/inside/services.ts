/** The services of a half, on its own side: what they check here, and what they ask of the page. */
import type * as React from "react";
import type { Json } from "../../wire/shapes";
import { clampHeight, seatOf, seats } from "../spec/seats";
import type { Said } from "../wire";
import { lossless } from "./lossless";

type Undo = () => void;
type Listener = (value: unknown) => void;

/** What the timer service runs on; taken before the realm is made small. */
export interface Clock {
  setTimeout: (fn: () => void, ms: number) => number;
  clearTimeout: (id: number) => void;
  setInterval: (fn: () => void, ms: number) => number;
  clearInterval: (id: number) => void;
}

export interface Half {
  say(said: Said): void;
  trouble(error: unknown): void;
  clock: Clock;
  views: Map<number, React.ElementType>;
  /** What the page has told: session, locale, theme, size of each mounted view, calls that are shown. */
  facts: Map<string, Json>;
}

const call = (half: Half, fn: () => unknown): void => {
  try {
    const answer = fn();
    if (answer instanceof Promise) answer.catch((error: unknown) => half.trouble(error));
  } catch (error) {
    half.trouble(error);
  }
};

const callable = (fn: unknown, at: string): void => {
  if (typeof fn !== "function") throw new TypeError(`${at}: the first argument has to be a function.`);
};

/** Questions to the page, each with its answer. */
export class Questions {
  private next = 1;
  private readonly open = new Map<number, { resolve: (value: Json) => void; reject: (error: Error) => void }>();

  constructor(private readonly say: (said: Said) => void) {}

  ask(service: string, method: string, args: Json): Promise<Json> {
    if (this.open.size >= 64) return Promise.reject(new Error(`${service}.${method}: 64 calls wait for an answer already.`));
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.open.set(id, { resolve, reject });
      this.say(["ask", id, service, method, args]);
    });
  }

  answer(id: number, ok: boolean, value: Json): void {
    const asked = this.open.get(id);
    if (!asked) return;
    this.open.delete(id);
    if (ok) return asked.resolve(value);
    const told = value as { code?: string; message?: string } | null;
    asked.reject(Object.assign(new Error(told?.message ?? "the page refused"), { code: told?.code ?? "refused" }));
  }
}

export const timerService = (half: Half) => {
  const { clock } = half;
  const timeout = (fn: () => unknown, ms = 0): Undo => {
    callable(fn, "timer.timeout");
    const id = clock.setTimeout(() => call(half, fn), Math.max(0, Number(ms) || 0));
    return () => clock.clearTimeout(id);
  };
  const interval = (fn: () => unknown, ms: number): Undo => {
    callable(fn, "timer.interval");
    const id = clock.setInterval(() => call(half, fn), Math.max(16, Number(ms) || 0));
    return () => clock.clearInterval(id);
  };
  const throttle = (fn: (...args: unknown[]) => unknown, ms: number) => {
    callable(fn, "timer.throttle");
    let closed = false;
    let again: unknown[] | null = null;
    const run = (...args: unknown[]): void => {
      if (closed) return void (again = args);
      closed = true;
      call(half, () => fn(...args));
      timeout(() => {
        closed = false;
        const last = again;
        again = null;
        if (last) run(...last);
      }, ms);
    };
    return run;
  };
  const debounce = (fn: (...args: unknown[]) => unknown, ms: number) => {
    callable(fn, "timer.debounce");
    let stop: Undo | null = null;
    return (...args: unknown[]): void => {
      stop?.();
      stop = timeout(() => fn(...args), ms);
    };
  };
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => void timeout(resolve, ms));
  return Object.freeze({ timeout, interval, sleep, throttle, debounce, setTimeout: timeout, setInterval: interval });
};

export const slotsService = (half: Half) => {
  let next = 1;
  return Object.freeze({
    register(options: unknown, component: unknown): Undo {
      if (typeof options !== "object" || options === null || typeof (options as { name?: unknown }).name !== "string")
        throw new TypeError('slots.register: the first argument has to be an object with a name, such as {name: "sidebar.footer.action"}.');
      const { name, key, priority, height } = options as { name: string; key?: unknown; priority?: unknown; height?: unknown };
      const seat = seatOf(name);
      if (!seat) throw new Error(`slots.register: there is no seat ${JSON.stringify(name)}. There are ${Object.keys(seats).join(", ")}.`);
      if (seat.kind === "keyed" && (typeof key !== "string" || !key)) throw new TypeError(`slots.register: ${name} needs a key: the name of the tool, such as "bash".`);
      if (typeof component !== "function" && (typeof component !== "object" || component === null || !("$$typeof" in component) || "props" in component))
        throw new TypeError("slots.register: the second argument has to be a component (a function), not an element.");
      if (half.views.size >= 32) throw new Error("slots.register: a half has at most 32 views.");
      const view = next++;
      half.views.set(view, component as React.ElementType);
      half.say(["register", view, name, typeof key === "string" ? key : "", typeof priority === "number" && Number.isFinite(priority) ? priority : 0, clampHeight(seat, height)]);
      return () => {
        if (half.views.delete(view)) half.say(["unregister", view]);
      };
    },
    list: () => Object.keys(seats),
  });
};

export const themeService = (half: Half, questions: Questions) => {
  let next = 1;
  return Object.freeze({
    current: (): Json => half.facts.get("theme") ?? null,
    async overrideTokens(...args: unknown[]): Promise<Undo> {
      if (args.length !== 2) throw new TypeError("theme.overrideTokens takes two arguments: (source, tokens).");
      const id = next++;
      await questions.ask("theme", "overrideTokens", { id, tokens: lossless(args[1], "tokens") });
      return () => void questions.ask("theme", "restore", { id }).catch(() => undefined);
    },
  });
};

export const layoutService = (half: Half, questions: Questions) =>
  Object.freeze({
    /** Width and height of a view as it is drawn now, null where it is not. */
    size: (slot: string): Json => (half.facts.get("layout") as Record<string, Json> | undefined)?.[slot] ?? null,
    request: (slot: string, wanted: { height: number }): Promise<Json> => questions.ask("layout", "request", lossless({ slot, height: wanted?.height }, "layout.request")),
  });

const noListeners: readonly Listener[] = [];

/** Listeners by event; what throws in one is told and stops no other. */
export class Events {
  static readonly names = ["session/change", "theme/change", "locale/change", "layout/change", "toolCard/change"];
  private readonly listeners = new Map<string, Listener[]>();

  constructor(private readonly half: Half) {}

  on(name: string, listener: Listener): Undo {
    if (!Events.names.includes(name)) throw new Error(`There is no event ${JSON.stringify(name)}. There are ${Events.names.join(", ")}.`);
    if (typeof listener !== "function") throw new TypeError(`ctx.on(${JSON.stringify(name)}, fn): fn has to be a function.`);
    this.listeners.set(name, [...(this.listeners.get(name) ?? noListeners), listener]);
    return () => void this.listeners.set(name, (this.listeners.get(name) ?? noListeners).filter((one) => one !== listener));
  }

  tell(name: string, value: unknown): void {
    for (const listener of this.listeners.get(name) ?? noListeners) call(this.half, () => listener(value));
  }
}
