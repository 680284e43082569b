import type { Answering } from "../ask/answering";
import type { ConsentAnswering } from "../plugin/answer";
import { type Talk, blank } from "../session/fold";
import type { JobView } from "./types";
import type { AskView, Browser, Config, Consent, LogEvent, Partial, PluginView, Preset, Summary } from "./shapes";
import type { Connection } from "./stream";

export interface Outgoing {
  id: string;
  text: string;
  steer: boolean;
  state: "sending" | "failed";
}

export interface SessionView {
  talk: Talk;
  events: LogEvent[];
  before: number | null;
  partial: Partial | null;
  permissions: { options: Preset[]; currentValue: string } | null;
  /** The jobs that ran when the session was read; the talk tells what has come since. */
  jobs: JobView[];
  state: "loading" | "ready" | "missing" | "failed";
  /** Who deleted the session while it was open here. */
  removedBy?: string;
}

export interface HouseState {
  connection: Connection;
  config: Config | null;
  sessions: Summary[] | null;
  views: Record<string, SessionView>;
  asks: Record<string, AskView>;
  /** Open asks in the store, over all sessions. */
  askTotal: number;
  askNext: string | null;
  answers: Record<string, Answering>;
  /** Requests for consent, by run; open ones, and those that were settled while this page looked. */
  consents: Record<string, Consent>;
  /** How many are open in the store; null until they were read. */
  consentTotal: number | null;
  consentNext: string | null;
  consentAnswers: Record<string, ConsentAnswering>;
  /** The plugins of all sessions, null until they were read. */
  plugins: readonly PluginView[] | null;
  /** The last reading of the plugins failed; the rows are older than they look. */
  pluginsStale: boolean;
  notes: Record<string, string>;
  outbox: Record<string, Outgoing[]>;
  /** The browsers that are signed in, once somebody looked. */
  browsers: Browser[] | null;
  told: { text: string; at: number } | null;
}

export const emptyView: SessionView = { talk: blank, events: [], before: null, partial: null, permissions: null, jobs: [], state: "loading" };

export type Change<T> = { [K in keyof T]?: T[K] };

/** What the page knows, in one place: read as a whole, changed piece by piece, told to whoever listens. */
export class Ledger {
  now: HouseState = {
    connection: { state: "connecting", since: Date.now() },
    config: null, sessions: null, views: {}, asks: {}, askTotal: 0, askNext: null, answers: {},
    consents: {}, consentTotal: null, consentNext: null, consentAnswers: {}, plugins: null, pluginsStale: false, notes: {}, outbox: {}, browsers: null, told: null,
  };
  private readonly listeners = new Set<() => void>();
  private readonly timers: Record<string, { timer: ReturnType<typeof setTimeout>; at: number }> = {};

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly snapshot = (): HouseState => this.now;

  set(change: Change<HouseState>): void {
    this.now = { ...this.now, ...change };
    for (const listener of this.listeners) {
      try {
        listener();
      } catch (error) {
        setTimeout(() => {
          throw error; // told in the console; the others hear the news all the same
        });
      }
    }
  }
  setView(id: string, change: Change<SessionView>): void {
    this.set({ views: { ...this.now.views, [id]: { ...(this.now.views[id] ?? emptyView), ...change } } });
  }
  setAsk(ask: AskView): void {
    this.set({ asks: { ...this.now.asks, [ask.id]: ask } });
  }
  setAnswer(id: string, answer: Answering): void {
    this.set({ answers: { ...this.now.answers, [id]: answer } });
  }
  setConsent(consent: Consent): void {
    this.set({ consents: { ...this.now.consents, [consent.run]: consent } });
  }
  setConsentAnswer(run: string, answer: ConsentAnswering): void {
    this.set({ consentAnswers: { ...this.now.consentAnswers, [run]: answer } });
  }
  setOutbox(session: string, outbox: Outgoing[]): void {
    this.set({ outbox: { ...this.now.outbox, [session]: outbox } });
  }
  tell(text: string): void {
    this.set({ told: { text, at: Date.now() } });
  }

  /** Acts once after a while, however often it is asked for until then; who asks for it sooner gets it sooner. */
  soon(name: string, ms: number, act: () => void): void {
    const at = Date.now() + ms;
    const due = this.timers[name];
    if (due && due.at <= at) return;
    clearTimeout(due?.timer);
    const timer = setTimeout(() => {
      delete this.timers[name];
      act();
    }, ms);
    this.timers[name] = { timer, at };
  }
  close(): void {
    for (const { timer } of Object.values(this.timers)) clearTimeout(timer);
  }
}
