import { type Client, NoAnswer, Refused } from "./client";
import { stepped } from "./inventory";
import { newKey } from "./key";
import type { Reader } from "./reader";
import type { Json, LogEvent, PluginView } from "./shapes";
import type { Ledger } from "./state";
import { Turns } from "./turns";
import type { ClientSource, HalfFailure, Invoked, PackageText, PluginEnded, Plugins as Inventory, RunReceipt, Taken, Verdict } from "./types";

/** What kept a gesture from being done, in the server's words; empty where there was no answer. */
export interface Undone {
  refused: string;
  code: string;
}

/** Events after which a row only says another word: the inventory is read when the moment is quieter. */
const calm = new Set(["cordis/consented", "cordis/started", "cordis/ready"]);
const SOON = 20;
const LATER = 250;
/** Milliseconds until a half's own business is tried again, where no answer came. */
const AGAIN = [500, 1500, 4000];

/** A connection that broke says nothing of a half, and of a run only the first word counts: so nobody gives up at once. */
const patiently = async <T>(ask: () => Promise<T>): Promise<T> => {
  for (const wait of AGAIN) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
    }
    await new Promise((resume) => setTimeout(resume, wait));
  }
  return ask();
};

/** The inventory of plugins and what people do with them. It is read as a whole, one reading at a time. */
export class Plugins {
  private reading: Promise<void> | null = null;
  private stale = false;
  /** What was heard during a reading, which may have begun before it. */
  private meanwhile: LogEvent[] = [];
  private readonly turns = new Turns();

  constructor(
    private readonly client: Client,
    private readonly reader: Reader,
    private readonly ledger: Ledger,
  ) {}

  hear(event: LogEvent): void {
    if (event.type === "cordis/called") return;
    if (this.reading) this.meanwhile.push(event);
    const before = this.ledger.now.plugins;
    const after = before && stepped(before, event);
    if (after !== before) this.ledger.set({ plugins: after });
    const known = event.type !== "cordis/ready" || after !== before;
    this.ledger.soon("plugins", known && calm.has(event.type) ? LATER : SOON, () => void this.load());
  }

  forget(session: string): void {
    this.ledger.set({ plugins: this.ledger.now.plugins?.filter((one) => one.session !== session) ?? null });
    this.ledger.soon("plugins", SOON, () => void this.load());
  }

  /** Reads the inventory; what is asked for during a reading is read once more after it, so that the last word is the newest. */
  load(): Promise<void> {
    if (this.reading) {
      this.stale = true;
      return this.reading;
    }
    this.reading = this.read().finally(() => {
      this.reading = null;
      if (this.stale) void this.load();
    });
    return this.reading;
  }

  private async read(): Promise<void> {
    this.stale = false;
    this.meanwhile = [];
    const answer = await this.reader.get<Inventory>("/api/plugins");
    if (answer) return this.ledger.set({ plugins: this.meanwhile.reduce(stepped, answer.plugins), pluginsStale: false });
    this.ledger.set({ pluginsStale: true });
    this.reader.again("plugins", () => void this.load());
  }

  /** Both halves of a package, to read. */
  source(plugin: string, name: string): Promise<PackageText | null> {
    return this.reader.get<PackageText>(`/api/plugins/${plugin}/packages/${name}`);
  }

  // ── gestures: each gives null where it was done ──────────────

  async run(plugin: string, name: string, mode: "run" | "update"): Promise<RunReceipt | Undone> {
    try {
      return await this.client.post<RunReceipt>(`/api/plugins/${plugin}/run`, { package: name, mode, key: newKey() });
    } catch (error) {
      return undone(error);
    } finally {
      void this.load();
    }
  }

  stop(plugin: string): Promise<Undone | null> {
    return this.gesture<PluginEnded>(plugin, "stop", {});
  }
  remove(plugin: string): Promise<Undone | null> {
    return this.gesture<PluginEnded>(plugin, "undefine", {});
  }
  revoke(plugin: string, what: { package: string } | { future: true }): Promise<Undone | null> {
    return this.gesture<PluginView>(plugin, "revoke", what);
  }

  private async gesture<T>(plugin: string, verb: string, body: { [name: string]: Json }): Promise<Undone | null> {
    try {
      await this.client.post<T>(`/api/plugins/${plugin}/${verb}`, { ...body, key: newKey() });
      return null;
    } catch (error) {
      return undone(error);
    } finally {
      void this.load();
    }
  }

  // ── what loaded halves need ──────────────────────────────────

  /** The client half of exactly this run; throws where it is not the active one. */
  async half(plugin: string, run: string): Promise<string> {
    return (await patiently(() => this.client.get<ClientSource>(`/api/plugins/${plugin}/runs/${run}/source`))).source;
  }

  /** True where the word counts; where it does not, the page throws the half away. */
  async verdict(plugin: string, verdict: Verdict): Promise<boolean> {
    return (await patiently(() => this.client.post<Taken>(`/api/plugins/${plugin}/verdict`, { ...verdict }))).accepted;
  }

  async failure(plugin: string, failure: HalfFailure): Promise<void> {
    await patiently(() => this.client.post<Taken>(`/api/plugins/${plugin}/failure`, { ...failure }));
  }

  /** Calls a method of the host half; what refuses it has a code of the contract. */
  async invoke(plugin: string, run: string, method: string, args: Json): Promise<Json> {
    const answer = await this.turns.take(plugin, () => this.client.post<Invoked>(`/api/plugins/${plugin}/invoke`, { run, method, args }));
    return answer.value as Json;
  }
}

const undone = (error: unknown): Undone =>
  error instanceof Refused ? { refused: [error.message, error.hint].filter(Boolean).join(" "), code: error.code } : { refused: "", code: error instanceof NoAnswer ? "no-answer" : "failed" };
