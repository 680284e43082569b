import type { Json } from "../wire/shapes";
import { BEAT, Cell } from "./cell";
import type { Failure, HalfDoors, HalfRun } from "./doors";
import { Half, type HalfKeeper, type Phase, type Registered } from "./half";
import { Sheets } from "./styles";
import { Overrides } from "./theme";

/** Milliseconds that a half has to come up. */
const START = 5_000;
/** A half that loses its process this often is not started again. */
const LOSSES = 2;
/** Halves that start at the same time; others wait for their turn. */
const STARTS = 4;
/** Milliseconds after which another cell is made ready, when the one that was ready has been used. */
const REWARM = 700;

export interface HalfState {
  readonly state: "loading" | "running" | "waiting" | "failed";
  readonly waitingFor: readonly string[];
  /** What failed: the whole half, or the view of one slot while the rest goes on. */
  readonly phase?: Phase;
  readonly text?: string;
  readonly slot?: string;
  /** The last lines of its console. */
  readonly lines: readonly string[];
}

export interface HalvesState {
  readonly runs: Readonly<Record<string, HalfState>>;
  readonly views: readonly Registered[];
}

const blank: HalfState = { state: "loading", waitingFor: [], lines: [] };

/** Every half that this page has loaded. It loads what it is told to, and keeps nothing that is not the active run. */
export class Halves implements HalfKeeper {
  private readonly halves = new Map<string, Half>();
  private readonly pending = new Map<string, { promise: Promise<void>; done: () => void; verdict: boolean }>();
  /** The word that a run came up, while it is on its way: of a run that is not up yet no failure is taken. */
  private readonly onItsWay = new Map<string, Promise<unknown>>();
  private readonly told = new Map<string, Set<string>>();
  private readonly losses = new Map<string, number>();
  private readonly listeners = new Set<() => void>();
  private readonly sheets = new Sheets();
  private readonly overrides = new Overrides();
  private now: HalvesState = { runs: {}, views: [] };
  private spare: Cell | null = null;
  private queue: Half[] = [];
  private looking: ReturnType<typeof setInterval> | undefined;
  private lookedAt = 0;
  private lostNow: Half[] = [];
  private busyUntil = 0;
  private stopWatching: (() => void) | null = null;
  private world = { locale: "en", theme: "light" };
  private scheduled = false;

  constructor(readonly doors: HalfDoors) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly snapshot = (): HalvesState => this.now;

  /** Makes a cell ready before it is needed: while somebody reads a request for consent, say. */
  warm(): void {
    if (this.spare) return;
    const cell: Cell = new Cell({
      heard: () => cell.taken(), // it says that it is ready, and nothing else before it has a source
      ended: () => {
        if (this.spare === cell) this.spare = null;
      },
    });
    this.spare = cell;
  }

  /** Fetches the source of a run, starts it, and tells the server how it went. Resolves when that is known. */
  async load(run: HalfRun & { verdict?: boolean }): Promise<void> {
    const loading = this.pending.get(run.run);
    if (loading) return loading.promise;
    if (this.halves.has(run.run)) return;
    for (const other of [...this.halves.values()]) if (other.run.plugin === run.plugin) this.unload(other.run.run);
    let done = (): void => undefined;
    const promise = new Promise<void>((resolve) => {
      done = resolve;
    });
    this.pending.set(run.run, { promise, done, verdict: run.verdict !== false });
    this.put(run.run, blank);
    let source: string;
    try {
      source = await this.doors.source(run.plugin, run.run);
    } catch (error) {
      if (!this.pending.has(run.run)) return;
      await this.settle(run, "client-load", `The source could not be read: ${error instanceof Error ? error.message : String(error)}`, "");
      return;
    }
    if (!this.pending.has(run.run)) return; // unloaded while it was fetched
    const half = new Half({ plugin: run.plugin, package: run.package, run: run.run, name: run.name, session: run.session }, source, this);
    this.halves.set(run.run, half);
    this.watch();
    this.queue.push(half);
    this.startNext();
    return promise;
  }

  /** Ends the half of a run and forgets everything of it. */
  unload(run: string): void {
    this.pending.get(run)?.done();
    this.pending.delete(run);
    const half = this.halves.get(run);
    this.halves.delete(run);
    half?.end();
    this.startNext();
    this.told.delete(run);
    this.losses.delete(run);
    const { [run]: _gone, ...runs } = this.now.runs;
    this.now = { ...this.now, runs };
    this.unwatch();
    this.changed();
  }

  /** Throws away every half that is not one of these runs. */
  keepOnly(active: ReadonlySet<string>): void {
    for (const run of Object.keys(this.now.runs)) if (!active.has(run)) this.unload(run);
  }

  /** Language and theme of the page, for the halves that ask. */
  setWorld(locale: string, theme: string): void {
    const old = this.world;
    this.world = { locale, theme };
    for (const half of this.halves.values()) {
      if (old.locale !== locale) half.fact("locale", locale);
      if (old.theme !== theme) half.fact("theme", theme);
    }
  }

  // what halves ask for

  facts(): { locale: string; theme: string } {
    return this.world;
  }

  changed(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      const all = [...this.halves.values()].flatMap((half) => half.views).sort((a, b) => b.order - a.order);
      const old = this.now.views;
      const views = all.length === old.length && all.every((one, index) => one === old[index]) ? old : all;
      const runs = { ...this.now.runs };
      for (const [run, half] of this.halves) if (runs[run] && runs[run].lines !== half.lines) runs[run] = { ...runs[run], lines: half.lines };
      this.now = { runs, views };
      for (const listener of this.listeners) listener();
    });
  }

  up(half: Half, waitingFor: string[]): void {
    const { run, plugin } = half.run;
    this.put(run, { ...blank, lines: half.lines, state: waitingFor.length ? "waiting" : "running", waitingFor });
    const pending = this.pending.get(run);
    this.pending.delete(run);
    this.startNext();
    if (!pending) return;
    const told = pending.verdict ? this.doors.verdict(plugin, { run, ok: true, waitingFor }) : Promise.resolve(true);
    const arrived = told
      .then(
        (accepted) => !accepted && !this.doors.active(plugin, run) && this.unload(run),
        () => undefined, // without an answer the state of the run decides, which the page reads anyway
      )
      .finally(() => {
        if (this.onItsWay.get(run) === arrived) this.onItsWay.delete(run);
        pending.done();
      });
    this.onItsWay.set(run, arrived);
  }

  failed(half: Half, phase: Phase, text: string, stack: string): void {
    this.halves.delete(half.run.run);
    this.startNext();
    this.unwatch();
    if (this.now.runs[half.run.run]) void this.settle(half.run, phase, text, stack);
  }

  troubled(half: Half, text: string, stack: string, slot: string | null): void {
    const { run } = half.run;
    const old = this.now.runs[run];
    if (slot !== null && old) this.put(run, { ...old, state: "failed", phase: "client-render", text, slot });
    if (this.fresh(run, `${slot} ${text}`)) void this.report(half.run, { run, phase: "client-render", slot: slot ?? undefined, message: text, stack: stack || undefined }).catch(() => undefined);
  }

  /** All halves share one process: when it dies, who was busiest is held to have done it, and the others start again. */
  lost(half: Half): void {
    if (this.lostNow.length === 0) setTimeout(() => this.revive(), BEAT * 2);
    this.lostNow.push(half);
  }

  insertStyles(half: Half, id: number, css: string): string[] {
    return this.sheets.insert(half.scope, id, css);
  }
  removeStyles(half: Half, id: number): void {
    this.sheets.remove(half.scope, id);
  }
  overrideTokens(half: Half, id: number, tokens: Json): void {
    this.overrides.put(`${half.scope} ${id}`, tokens);
  }
  restoreTokens(half: Half, id: number): void {
    this.overrides.remove(`${half.scope} ${id}`);
  }

  /** Halves together get about a third of the page's time, whatever they send. */
  breath(cost: number): number {
    const now = performance.now();
    this.busyUntil = Math.max(this.busyUntil, now) + cost * 2;
    return cost < 2 ? 0 : Math.min(2_000, this.busyUntil - now);
  }

  // the rest is its own

  private startNext(): void {
    const starting = [...this.halves.values()].filter((half) => half.state === "loading" && half.startedAt > 0).length;
    for (let free = STARTS - starting; free > 0 && this.queue.length > 0; free -= 1) {
      const half = this.queue.shift()!;
      if (this.halves.get(half.run.run) !== half) continue;
      const cell = this.spare;
      this.spare = null;
      half.start(cell);
      if (cell) setTimeout(() => this.warm(), REWARM); // who is asked once is often asked again
      this.expect(half);
    }
  }

  private expect(half: Half): void {
    setTimeout(() => {
      if (half.state === "loading" && this.halves.get(half.run.run) === half && Date.now() - half.startedAt >= START) half.fail(`It was not ready after ${START / 1000} s: something that it waits for never comes.`, "");
    }, START + 50);
  }

  private async settle(run: HalfRun, phase: Phase, text: string, stack: string): Promise<void> {
    const old = this.now.runs[run.run] ?? blank;
    const pending = this.pending.get(run.run);
    this.pending.delete(run.run);
    this.put(run.run, { ...old, state: "failed", phase, text, slot: undefined });
    try {
      if (pending?.verdict && phase !== "client-render") {
        const accepted = await this.doors.verdict(run.plugin, { run: run.run, ok: false, phase, message: text, stack: stack || undefined });
        if (!accepted && !this.doors.active(run.plugin, run.run)) this.unload(run.run);
      } else if (this.fresh(run.run, text)) await this.report(run, { run: run.run, phase, message: text, stack: stack || undefined });
    } catch {
      // not told: the panel of this page still says it, and the server has its own bound
    } finally {
      pending?.done();
    }
  }

  private async report(run: HalfRun, failure: Failure): Promise<void> {
    await this.onItsWay.get(run.run);
    await this.doors.failure(run.plugin, failure);
  }

  /** True the first time that a run says this. */
  private fresh(run: string, text: string): boolean {
    const said = this.told.get(run) ?? new Set<string>();
    this.told.set(run, said);
    if (said.has(text) || said.size >= 20) return false;
    said.add(text);
    return true;
  }

  private put(run: string, state: HalfState): void {
    this.now = { ...this.now, runs: { ...this.now.runs, [run]: state } };
    this.changed();
  }

  private revive(): void {
    const gone = this.lostNow.filter((half) => this.halves.get(half.run.run) === half);
    this.lostNow = [];
    const suspect = gone.reduce<Half | null>((worst, half) => (worst === null || half.busy > worst.busy ? half : worst), null);
    for (const half of gone) {
      const { run } = half.run;
      const times = (this.losses.get(run) ?? 0) + 1;
      this.losses.set(run, times);
      if (half === suspect || times > LOSSES) half.fail("The browser ended what it ran in: it used up the memory, or did not answer.", "", "client-render");
      else {
        half.restart();
        this.put(run, blank);
        this.expect(half);
      }
    }
  }

  private watch(): void {
    if (this.looking !== undefined) return;
    this.lookedAt = performance.now();
    this.looking = setInterval(() => {
      const now = performance.now();
      const late = now - this.lookedAt > 2 * BEAT;
      this.lookedAt = now;
      for (const half of this.halves.values()) half.look(late);
    }, BEAT);
    const last = new Map<string, string>();
    this.stopWatching = this.doors.watch(() => {
      for (const half of this.halves.values()) {
        const facts = this.doors.sessionState(half.run.session) as Json;
        const text = JSON.stringify(facts);
        if (last.get(half.run.run) !== text) half.fact("session", facts);
        last.set(half.run.run, text);
      }
    });
  }

  private unwatch(): void {
    if (this.halves.size > 0) return;
    clearInterval(this.looking);
    this.looking = undefined;
    this.stopWatching?.();
    this.stopWatching = null;
  }
}
