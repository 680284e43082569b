import type * as wire from "./types";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Outcome = wire.DecisionView["outcome"];
export type Who = wire.Signer;
export type Subject = wire.Subject;
export type AskView = Omit<wire.AskView, "decision"> & { decision: Decision | null };
export type Asks = Omit<wire.Asks, "asks"> & { asks: AskView[] };
export type Browser = wire.LinkedBrowser;
export type Summary = wire.Summary;
export type SessionName = wire.SessionName;
export type Preset = wire.Option;
export type Partial = wire.PartialText;
export type Delta = wire.TextDelta;
export type Receipt = wire.ReceiptView;

/** A decision as the API tells it; one read from the log also has the digest that was signed. */
export type Decision = wire.DecisionView & { digest?: string };

export type LogEvent = Omit<wire.WireEvent, "data"> & { data: { [name: string]: Json } };
export type EventPage = Omit<wire.EventPage, "events"> & { events: LogEvent[] };
export type SessionPage = Omit<wire.SessionView, "events" | "asks"> & { events: LogEvent[]; asks: AskView[] };

export type PluginView = wire.PluginView;
export type Width = "package" | "future";
export type ConsentDecision = wire.ConsentDecision;
/** A request for consent; its code, once it was read, and how it was settled. */
export type Consent = wire.ConsentRow & { whole: ConsentCode | null; decision: ConsentDecision | null };
export interface ConsentCode {
  /** Exactly what the digest covers: both halves in the escaped form. One object as long as they are the same. */
  signed: { host: string | null; client: string | null };
  wants: wire.Wants;
  before: wire.EarlierCode | null;
}

/** What `doctor` says about the sandbox of this machine. */
export interface SandboxReport {
  chosen: string | null;
  backends: { name: string; usable: boolean; enforcement: string | null; not_governed?: string[]; notGoverned?: string[]; why?: string | null }[];
}

export type Config = Omit<wire.Config, "sandbox"> & { sandbox: SandboxReport };
