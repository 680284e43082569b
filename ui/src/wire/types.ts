// Generated from the server's OpenAPI document by scripts/types.mjs. Not to be edited.

export interface Accepted {
  accepted?: true;
  receipt: ReceiptView;
}

export interface Answer {
  outcome: "allowed-once" | "rejected";
  digest: string;
  key: string;
  feedback?: string | null;
  stop?: boolean;
}

/** One ask with everything that its card says. */
export interface AskView {
  id: string;
  session: string;
  sessionName: SessionName;
  agent: string;
  tool: string;
  reason: string | null;
  subject: Subject;
  digest: string;
  askedAt: number;
  state: "open" | "decided";
  decision: DecisionView | null;
  position: number | null;
  total: number;
  rearmed: boolean;
  earlierRun: boolean;
  fullAccess: boolean;
  scriptCovered?: boolean;
}

/** Open asks of all sessions but those whose log is damaged; each of these has a notice. */
export interface Asks {
  asks: AskView[];
  total: number;
  next: string | null;
  notices: NoticeView[];
}

/** The answer does not fit the ask; the ask stays open. */
export interface BadResponseBody {
  accepted?: false;
  reason?: "bad-response";
  why: string;
}

export interface Browsers {
  pages: LinkedBrowser[];
}

export interface CallKey {
  turn: number;
  step: number;
  position: number;
}

export interface Config {
  version: string;
  instance: string;
  person: Person;
  rehearsal: boolean;
  model: string;
  models: ModelChoice[];
  presets: Option[];
  defaultPreset: string;
  sandbox: { [name: string]: unknown };
  home: string;
  suggestedCwd: string;
  suggestedIsNew: boolean;
  notices: NoticeView[];
}

/** Who settled an ask, how, over which channel and when. */
export interface DecisionView {
  outcome: "allowed-once" | "rejected" | "cancelled" | "unavailable";
  detail: string | null;
  who: Signer;
  channel: string;
  evidence: string | null;
  strength: string | null;
  time: number;
  digest: string;
  feedback: string | null;
  stoppedBy?: string | null;
}

export interface Denied {
  path: string | null;
  time: number;
  call: CallKey | string;
}

/** An object without fields. */
export interface Empty {

}

/** The body of every answer that is a no. */
export interface ErrorBody {
  error: Problem;
}

/** Events in ascending order; `before` asks for older ones, null when there are none. */
export interface EventPage {
  events: WireEvent[];
  before: number | null;
}

export interface Health {
  ok?: true;
  product?: "placet";
  version: string;
  instance: string;
  proof: string | null;
}

/** `event: hello`, once at the start. */
export interface Hello {
  cursor: string;
  instance: string;
}

/** A background job, as far as one needs it to know which one is meant; the command in the escaped form. */
export interface JobName {
  job: string;
  command: string;
  mode: string;
}

/** Output of a job from byte `start` to `end`; `dropped` bytes before it are gone, `more` bytes follow. */
export interface JobOutput {
  job: JobView;
  kept: boolean;
  text: string;
  start: number;
  end: number;
  dropped: number;
  more: number;
}

/** A job as it stands; exit code, signal and reason once it has ended. */
export interface JobView {
  job: string;
  command: string;
  mode: string;
  cwd: string;
  call: CallKey;
  startedAt: number;
  state: "running" | "ended";
  exitCode?: number | null;
  signal?: string | null;
  reason?: string | null;
}

export interface Keyed {
  key: string;
}

/** One of secret and code, and the page's public key (raw P-256 point, base64url). */
export interface LinkRequest {
  secret?: string | null;
  code?: string | null;
  publicKey: string;
  label?: string;
}

export interface Linked {
  keyId: string;
  serverKey: string;
  instance: string;
}

/** A browser that is signed in; `current` is the one that asks. */
export interface LinkedBrowser {
  keyId: string;
  label: string;
  account: string;
  linkedAt: number;
  current: boolean;
}

export interface MessageAccepted {
  id: string;
  accepted?: true;
}

export interface ModelChange {
  model: string;
  key: string;
}

export interface ModelChoice {
  name: string;
  label: string;
  real: boolean;
}

/** `path` as the result of a call names it (`meta.appeared`). */
export interface MoveAway {
  path: string;
  key: string;
}

export interface MovedAway {
  moved?: true;
  to: string;
}

export interface NewLink {
  url: string;
  code: string;
  expiresAt: number;
}

export interface NewMessage {
  text: string;
  id: string;
  steer?: boolean;
}

export interface NewSession {
  cwd: string;
  preset?: string | null;
  policy?: string | null;
  message?: string | null;
  title?: string | null;
  model?: string | null;
  key: string;
}

/** The ask was settled before; `decision` says by whom, null while the stop of its turn is on its way to the log. */
export interface NotPendingBody {
  accepted?: false;
  reason?: "not-pending";
  decision: DecisionView | null;
}

export interface NoticeView {
  level: "info" | "warn" | "error";
  code: string;
  text: string;
}

export interface Option {
  value: string;
  name: string;
  description?: string | null;
}

export interface PartialText {
  turn: number;
  step: number;
  text: string;
}

/** Exactly one of preset, mode and policy. */
export interface PermissionChange {
  preset?: string | null;
  mode?: string | null;
  policy?: string | null;
  confirm?: boolean;
  key: string;
}

export interface PermissionView {
  permissions: Permissions;
  mode: string;
  policy: string;
}

export interface Permissions {
  options: Option[];
  currentValue: string;
}

export interface Person {
  name: string;
  account: string | null;
}

/** `jobs` stands beside the code `jobs-running` only: what would end. */
export interface Problem {
  code: string;
  message: string;
  hint?: string | null;
  jobs?: JobName[] | null;
}

export interface ReceiptView {
  ask: string;
  outcome: string;
  time: number;
  who: Signer;
  channel: string;
  strength: string | null;
  stopped?: boolean;
}

export interface SessionChange {
  title?: string | null;
  archived?: boolean | null;
  key: string;
}

/** What a session is called: its title, else words of its first message, else the name of its folder. */
export interface SessionName {
  text: string;
  origin: "title" | "message" | "folder";
}

export interface SessionView {
  summary: Summary;
  permissions: Permissions;
  events: WireEvent[];
  before: number | null;
  partial: PartialText | null;
  asks: AskView[];
  jobs: JobView[];
  cursor: string;
}

/** All sessions but those whose log is damaged; each of these has a notice. */
export interface Sessions {
  sessions: Summary[];
  notices: NoticeView[];
}

export interface SignedFile {
  path: string;
  sha256: string;
  text: string;
}

export interface Signer {
  kind: "person" | "policy" | "rule" | "system";
  name: string;
  account?: string | null;
}

export interface Stopped {
  stopped?: true;
  turn: number;
}

/** Exactly what the person is shown and signs; its digest covers this object and nothing else. */
export interface Subject {
  v: number;
  ask: string;
  session: string;
  agent: string;
  call: CallKey;
  tool: string;
  toolDigest: string;
  arguments: string;
  cwd: string;
  cwdId: string;
  fromMode: string;
  toMode: string | null;
  denied: Denied | null;
  files: SignedFile[];
}

export interface Summary {
  id: string;
  title: string | null;
  name: SessionName;
  cwd: string;
  createdAt: number;
  lastTime: number;
  status: "idle" | "running" | "waiting" | "interrupted";
  openAsks: number;
  preset: string;
  mode: string;
  policy: string;
  model: string | null;
  archived: boolean;
  turn: number | null;
}

/** `event: delta`: more of what the model is saying; with `whole` the text so far, which replaces what was shown. */
export interface TextDelta {
  session: string;
  turn: number;
  step: number;
  text: string;
  whole: boolean;
}

/** One event of a log, as the log holds it; `cursor` is its place among all events of the installation. */
export interface WireEvent {
  session: string;
  seq: number;
  time: number;
  type: string;
  key: string;
  data: { [name: string]: unknown };
  cursor: string;
}
