export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Mode = "read-only" | "workspace-write" | "danger-full-access";
export type Outcome = "allowed-once" | "rejected" | "cancelled" | "unavailable";

export interface Who {
  kind: "person" | "policy" | "rule" | "system";
  name: string;
  account?: string | null;
}

export interface Decision {
  outcome: Outcome;
  detail: string | null;
  who: Who;
  channel: string;
  evidence: string | null;
  strength: string | null;
  time: number;
  digest: string;
  feedback: string | null;
}

export interface Subject {
  v: number;
  ask: string;
  session: string;
  agent: string;
  call: { turn: number; step: number; position: number };
  tool: string;
  toolDigest: string;
  /** What the vendor sent, in the escaped form. */
  arguments: string;
  cwd: string;
  cwdId: string;
  fromMode: string;
  toMode: string | null;
  denied: { path: string | null; time: number; call: unknown } | null;
  files: { path: string; sha256: string; text: string }[];
}

export interface AskView {
  id: string;
  session: string;
  sessionTitle: string | null;
  agent: string;
  tool: string;
  reason: string | null;
  subject: Subject;
  digest: string;
  askedAt: number;
  state: "open" | "decided";
  decision: Decision | null;
  position: number | null;
  total: number | null;
  rearmed: boolean;
  earlierRun: boolean;
  fullAccess: boolean;
  scriptCovered: boolean;
}

export interface Summary {
  id: string;
  title: string | null;
  cwd: string;
  createdAt: number;
  lastTime: number;
  status: "idle" | "running" | "waiting" | "interrupted";
  openAsks: number;
  preset: string;
  mode: string;
  policy: string;
  model: string;
  archived: boolean;
  turn: number | null;
}

export interface LogEvent {
  session: string;
  seq: number;
  time: number;
  type: string;
  key: string;
  data: { [name: string]: Json };
  cursor: string;
}

export interface Preset {
  value: string;
  name: string;
  description?: string | null;
}

export interface SandboxReport {
  chosen: string | null;
  backends: { name: string; usable: boolean; enforcement: string | null; not_governed?: string[]; notGoverned?: string[]; why: string | null }[];
}

export interface Config {
  version: string;
  instance: string;
  person: { name: string; account: string | null };
  rehearsal: boolean;
  model: string;
  models: { name: string; label: string; real: boolean }[];
  presets: Preset[];
  defaultPreset: string;
  sandbox: SandboxReport;
  home: string;
  suggestedCwd: string | null;
  notices: { level: string; code: string; text: string }[];
}

export interface Partial {
  turn: number;
  step: number;
  text: string;
}

export interface SessionPage {
  summary: Summary;
  permissions: { options: Preset[]; currentValue: string };
  events: LogEvent[];
  before: number | null;
  partial: Partial | null;
  asks: AskView[];
  cursor: string;
}

export interface Receipt {
  ask: string;
  outcome: Outcome;
  time: number;
  who: Who;
  channel: string;
  strength: string;
}

export interface Delta {
  session: string;
  turn: number;
  step: number;
  text: string;
  whole: boolean;
}
