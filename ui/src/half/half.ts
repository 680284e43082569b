import { flushSync } from "react-dom";
import type { Json } from "../wire/shapes";
import { Cell } from "./cell";
import { type HalfDoors, type HalfRun, InvokeRefused } from "./doors";
import type { View } from "./mirror/Mirror";
import { Forged, Tree } from "./mirror/tree";
import { type SeatName, clampHeight, seatOf } from "./spec/seats";
import { type Told, bounds } from "./wire";

/** One view that a half has registered for a seat. */
export interface Registered {
  readonly half: Half;
  readonly view: number;
  readonly slot: SeatName;
  readonly key: string;
  readonly priority: number;
  /** Higher is newer, over all halves. */
  readonly order: number;
  readonly height: number;
  /** Why it is not drawn any more. */
  readonly broken: string | null;
}

export type Phase = "client-load" | "client-apply" | "client-render";

/** What the world around a half does for it, and is told by it. */
export interface HalfKeeper {
  readonly doors: HalfDoors;
  facts(): { locale: string; theme: string };
  changed(): void;
  /** It came up; `waitingFor` names services that there are not. */
  up(half: Half, waitingFor: string[]): void;
  /** It is over, and its cell is gone. */
  failed(half: Half, phase: Phase, text: string, stack: string): void;
  /** Its cell died without a word. */
  lost(half: Half): void;
  /** One of its views broke, or a handler; the rest goes on. */
  troubled(half: Half, text: string, stack: string, slot: string | null): void;
  insertStyles(half: Half, id: number, css: string): string[];
  removeStyles(half: Half, id: number): void;
  overrideTokens(half: Half, id: number, tokens: Json): void;
  restoreTokens(half: Half, id: number): void;
  /** Milliseconds to wait before the next batch, after one that took `cost`. */
  breath(cost: number): number;
}

interface Mounted {
  readonly tree: Tree;
  readonly registered: Registered;
}

const most = { views: 32, roots: 64, calls: 64, sheets: 16, overrides: 8, lines: 20 } as const;
let orders = 0;
let scopes = 0;

const textOf = (value: unknown, length: number): string => (typeof value === "string" ? value.slice(0, length) : "");
const numberOf = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Words for why a guard has ended a half. */
const cuts: Record<string, string> = {
  loop: "It did not answer for more than half a second: it computes without end, or too long at once.",
  flood: "It sent more messages than a page can take.",
  "too-long": `It sent a message of more than ${bounds.message / 1024} kB.`,
  junk: "It sent something that is no message of a plugin.",
  "broken-runtime": "The browser could not start what plugins run in.",
  "no-runtime": "The page could not load what plugins run in. Reload the page.",
};

/** One running half on the page's side. Whatever comes from it is checked here; whatever is wrong ends it. */
export class Half {
  readonly scope = `h${++scopes}`;
  state: "loading" | "running" | "waiting" | "failed" = "loading";
  views: readonly Registered[] = [];
  /** The last lines of its console. */
  lines: readonly string[] = [];
  /** When its cell was started, 0 before. */
  startedAt = 0;
  private cell: Cell | null = null;
  private started = false;
  private over = false;
  private nextRoot = 1;
  private events = 0;
  private calls = 0;
  private readonly mounted = new Map<number, Mounted>();
  private readonly sizes = new Map<string, { width: number; height: number }>();
  private readonly shown = new Map<number, Json>();
  private sheets = new Set<number>();
  private overrides = new Set<number>();
  private resizedAt = 0;
  private lastBusy = 0;

  constructor(
    readonly run: HalfRun,
    private source: string,
    private readonly keeper: HalfKeeper,
  ) {}

  /** How late it answered its guard of late, in milliseconds. */
  get busy(): number {
    return this.cell?.busy ?? this.lastBusy;
  }

  /** Runs the source in a cell, a warm one where it is given. */
  start(cell: Cell | null): void {
    const listener = { heard: (items: readonly unknown[]) => this.heard(items), ended: (why: string) => this.ended(why) };
    this.cell = cell ?? new Cell(listener);
    this.startedAt = Date.now();
    cell?.listen(listener);
    this.begin(); // it waits in the port until the worker listens
  }

  /** Starts anew from the same source, after its process was taken away for something that another half did. */
  restart(): void {
    this.forget();
    this.started = false;
    this.state = "loading";
    this.start(null);
  }

  look(late: boolean): void {
    this.cell?.look(late);
  }

  /** Ends it for good: worker, frame, styles, views, source. */
  end(): void {
    this.over = true;
    this.cell?.end();
    this.cell = null;
    this.source = "";
    this.forget();
  }

  mount(registered: Registered, properties: Json): { root: number; view: View } | null {
    if (this.over || this.mounted.size >= most.roots) return null;
    const root = this.nextRoot++;
    const tree = new Tree();
    this.mounted.set(root, { tree, registered });
    this.tell(["mount", root, registered.view, properties]);
    this.show(root, properties);
    return {
      root,
      view: {
        tree,
        typing: null,
        send: (node, event, args) => {
          this.events += 1;
          this.tell(["event", this.events, root, node, event, args]);
          return this.events;
        },
      },
    };
  }

  update(root: number, properties: Json): void {
    if (!this.mounted.has(root)) return;
    this.tell(["properties", root, properties]);
    this.show(root, properties);
  }

  unmount(root: number): void {
    const held = this.mounted.get(root);
    if (!this.mounted.delete(root)) return;
    this.tell(["unmount", root]);
    if (held && this.sizes.delete(held.registered.slot)) this.tellSizes();
    if (this.shown.delete(root)) this.fact("toolCard", [...this.shown.values()]);
  }

  /** Tells the half how large one of its views is drawn. */
  sized(slot: string, width: number, height: number): void {
    const old = this.sizes.get(slot);
    if (old?.width === width && old.height === height) return;
    this.sizes.set(slot, { width, height });
    this.tellSizes();
  }

  fact(name: "session" | "theme" | "locale" | "toolCard" | "layout", value: Json): void {
    if (this.started) this.tell(["fact", name, value]);
  }

  /** Takes one view out of its seats: it failed, here or there. */
  breakView(registered: Registered, text: string, stack: string): void {
    if (this.views.some((one) => one.view === registered.view && one.broken !== null)) return;
    this.views = this.views.map((one) => (one.view === registered.view ? { ...one, broken: text } : one));
    this.keeper.troubled(this, text, stack, registered.slot);
    this.keeper.changed();
  }

  private tellSizes(): void {
    this.fact("layout", Object.fromEntries(this.sizes));
  }

  private show(root: number, properties: Json): void {
    if (!isRecord(properties) || !isRecord(properties.call)) return;
    this.shown.set(root, properties.call as Json);
    this.fact("toolCard", [...this.shown.values()]);
  }

  private tell(told: Told): void {
    this.cell?.tell(told);
  }

  private forget(): void {
    for (const id of this.sheets) this.keeper.removeStyles(this, id);
    for (const id of this.overrides) this.keeper.restoreTokens(this, id);
    this.sheets = new Set();
    this.overrides = new Set();
    this.mounted.clear();
    this.sizes.clear();
    this.shown.clear();
    this.views = [];
    this.keeper.changed();
  }

  private begin(): void {
    if (this.started) return;
    this.started = true;
    const { run, plugin, name, session } = this.run;
    this.tell(["start", { source: this.source, plugin, package: this.run.package, run, name, session: this.keeper.doors.sessionState(session) as Json, ...this.keeper.facts() }]);
  }

  private ended(why: string): void {
    if (this.over) return;
    this.lastBusy = this.busy;
    this.cell = null;
    if (why === "silent") return this.keeper.lost(this);
    this.fail(cuts[why] ?? why, "");
  }

  /** It did what no plugin does, or nothing any more: everything of it goes. */
  fail(text: string, stack: string, phase: Phase = this.state === "loading" ? "client-apply" : "client-render"): void {
    if (this.over) return;
    this.state = "failed";
    this.end();
    this.keeper.failed(this, phase, text, stack);
  }

  private heard(items: readonly unknown[]): void {
    const from = performance.now();
    const cell = this.cell;
    try {
      flushSync(() => {
        for (const item of items) this.text(item);
      });
    } catch (error) {
      return this.fail(error instanceof Forged ? `It sent an operation that cannot be: ${error.message}.` : `What it sent could not be drawn: ${String(error)}`, "");
    }
    if (this.over || !cell) return;
    const wait = this.keeper.breath(performance.now() - from);
    if (wait < 4) cell.taken();
    else setTimeout(() => cell.taken(), wait);
  }

  private text(item: unknown): void {
    if (typeof item !== "string" || item.length > bounds.message) throw new Forged("a message that is no text of its length");
    let all: unknown;
    try {
      all = JSON.parse(item);
    } catch {
      throw new Forged("a message that is no JSON");
    }
    if (!Array.isArray(all)) throw new Forged("a message that is no list");
    for (const one of all) {
      if (this.over) return;
      if (!Array.isArray(one)) throw new Forged("a word that is no list");
      this.hear(one as unknown[]);
    }
  }

  private hear(said: unknown[]): void {
    switch (said[0]) {
      case "ready":
        return;
      case "applied":
        return this.applied(said[1]);
      case "failed":
        if (this.state === "loading") this.fail(textOf(said[2], 2_000) || "It failed without a word.", textOf(said[3], 4_000), said[1] === "client-load" ? "client-load" : "client-apply");
        return;
      case "ops": {
        const mounted = this.mounted.get(numberOf(said[1]));
        return mounted?.tree.apply(said[3], said[2]); // a view that was taken away may still be drawn by who does not know it yet
      }
      case "broken": {
        const mounted = this.mounted.get(numberOf(said[1]));
        if (mounted) this.breakView(mounted.registered, textOf(said[2], 2_000) || "It failed without a word.", textOf(said[3], 4_000));
        return;
      }
      case "trouble":
        this.line("error", textOf(said[1], 2_000));
        return this.keeper.troubled(this, textOf(said[1], 2_000), textOf(said[2], 4_000), null);
      case "log":
        return this.line(textOf(said[1], 8), textOf(said[2], 2_000));
      case "register":
        return this.register(said);
      case "unregister":
        this.views = this.views.filter((one) => one.view !== said[1]);
        return this.keeper.changed();
      case "ask":
        return void this.asked(said[1], said[2], said[3], said[4]);
      default:
        throw new Forged("a word of no kind");
    }
  }

  private applied(waiting: unknown): void {
    if (this.state !== "loading") return;
    const names = Array.isArray(waiting) ? waiting.filter((one): one is string => typeof one === "string").map((one) => one.slice(0, 80)).slice(0, 20) : [];
    this.state = names.length ? "waiting" : "running";
    this.keeper.up(this, names);
  }

  private line(level: string, text: string): void {
    this.lines = [...this.lines, `${level}: ${text}`.slice(0, 500)].slice(-most.lines);
    this.keeper.changed();
  }

  private register([, view, slot, key, priority, height]: unknown[]): void {
    const seat = seatOf(slot);
    if (!seat || !Number.isSafeInteger(view) || this.views.some((one) => one.view === view) || this.views.length >= most.views) throw new Forged("a view for no seat");
    this.views = [
      ...this.views,
      { half: this, view: view as number, slot: slot as SeatName, key: textOf(key, 120), priority: numberOf(priority), order: ++orders, height: clampHeight(seat, height), broken: null },
    ];
    this.keeper.changed();
  }

  private async asked(id: unknown, service: unknown, method: unknown, args: unknown): Promise<void> {
    const given = isRecord(args) ? args : {};
    const answer = (ok: boolean, value: Json) => this.tell(["answer", numberOf(id), ok, value]);
    if (this.calls >= most.calls) return answer(false, { code: "too-many", message: "Too many calls wait for an answer already." });
    this.calls += 1;
    try {
      answer(true, await this.act(`${textOf(service, 20)}.${textOf(method, 40)}`, given));
    } catch (error) {
      answer(false, error instanceof InvokeRefused ? { code: error.code, message: error.message } : { code: "refused", message: error instanceof Error ? error.message : String(error) });
    } finally {
      this.calls -= 1;
    }
  }

  private act(verb: string, args: Record<string, unknown>): Promise<Json> | Json {
    const id = numberOf(args.id);
    switch (verb) {
      case "host.call":
        return this.keeper.doors.invoke(this.run.plugin, this.run.run, textOf(args.method, 200), (args.args ?? null) as Json);
      case "styles.insert":
        if (this.sheets.size >= most.sheets) throw new Error(`styles.insert: at most ${most.sheets} sheets.`);
        this.sheets.add(id);
        return this.keeper.insertStyles(this, id, textOf(args.css, 50_000));
      case "styles.remove":
        if (this.sheets.delete(id)) this.keeper.removeStyles(this, id);
        return null;
      case "theme.overrideTokens":
        if (this.overrides.size >= most.overrides) throw new Error(`theme.overrideTokens: at most ${most.overrides} overrides.`);
        this.keeper.overrideTokens(this, id, (args.tokens ?? null) as Json);
        this.overrides.add(id);
        return null;
      case "theme.restore":
        if (this.overrides.delete(id)) this.keeper.restoreTokens(this, id);
        return null;
      case "layout.request":
        return this.resize(args.slot, args.height);
      default:
        throw new Error("There is no such service.");
    }
  }

  /** Gives the views of one seat another height within its bounds, at most twice a second. */
  private resize(slot: unknown, height: unknown): Json {
    const seat = seatOf(slot);
    if (!seat) throw new Error("layout.request: there is no such seat.");
    const now = performance.now();
    if (now - this.resizedAt < 500) throw new Error("layout.request: at most twice a second.");
    this.resizedAt = now;
    const given = clampHeight(seat, height);
    this.views = this.views.map((one) => (one.slot === slot ? { ...one, height: given } : one));
    this.keeper.changed();
    return { height: given };
  }
}
