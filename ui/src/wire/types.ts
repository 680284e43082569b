// Generated from the server's OpenAPI document by scripts/types.mjs. Not to be edited.

export interface Accepted {
  accepted?: true;
  receipt: ReceiptView;
}

/** What the server runs now; `client_half` says that a page can load one. */
export interface ActiveRun {
  run: string;
  package: string;
  status: "awaiting-approval" | "starting-host" | "client-pending" | "running" | "waiting" | "rejected" | "failed" | "cancelled" | "stopped";
  host: HostState;
  client: ClientState;
  clientHalf: boolean;
  startedAt: number;
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

/** One try to run a package; `by` says who wanted it. */
export interface AttemptView {
  run: string;
  package: string;
  mode: "run" | "update";
  status: "awaiting-approval" | "starting-host" | "client-pending" | "running" | "waiting" | "rejected" | "failed" | "cancelled" | "stopped";
  host: HostState;
  client: ClientState;
  phase: "approval" | "host-load" | "host-apply" | "client-load" | "client-apply" | "client-render" | "guard" | "handler" | null;
  error: Failure | null;
  detail: string | null;
  requestedAt: number;
  by: { [name: string]: unknown } | null;
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

/** The client half of the active run, exactly as it was consented to. */
export interface ClientSource {
  run: string;
  package: string;
  source: string;
}

/** The half in the pages, by the first verdict that counted. */
export interface ClientState {
  status: "absent" | "pending" | "stopped" | "running" | "waiting" | "failed";
  waitingFor: string[];
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

/** A yes to the code with this digest: for this package only, or for the plugin's future packages too. */
export interface Consent {
  run: string;
  digest: string;
  width: "package" | "future";
  key: string;
}

export interface ConsentAccepted {
  accepted?: true;
  receipt: ConsentReceipt;
}

/** How a request for consent was settled. */
export interface ConsentDecision {
  outcome: "consented" | "declined" | "cancelled";
  width?: "package" | "future" | null;
  detail?: string | null;
  who?: Signer | null;
  channel?: string | null;
  evidence?: string | null;
  strength?: string | null;
  time: number;
  digest?: string | null;
  feedback?: string | null;
  by?: { [name: string]: unknown } | null;
}

/** A yes that is in force: to one package, or with width `future` to later packages too. */
export interface ConsentGiven {
  package: string | null;
  width: "package" | "future";
  who: Signer;
  channel: string;
  at: number;
}

/** The request was settled before; `decision` says how. */
export interface ConsentNotPending {
  accepted?: false;
  reason?: "not-pending";
  decision: ConsentDecision | null;
}

export interface ConsentReceipt {
  run: string;
  outcome: "consented" | "declined";
  width: "package" | "future" | null;
  time: number;
  who: Signer;
  channel: string;
  strength: string | null;
}

/** One request for consent without its code: a row that opens the card, never one that answers. */
export interface ConsentRow {
  run: string;
  plugin: string;
  package: string;
  mode: "run" | "update";
  session: string;
  sessionName: SessionName;
  name: string;
  purpose: string;
  model: string;
  hasHostHalf: boolean;
  hasClientHalf: boolean;
  digest: string;
  requestedAt: number;
  state: "open" | "decided";
  position: number | null;
  total: number;
}

/** The whole card: both halves in the escaped form. The answer sends back the digest of what was shown. */
export interface ConsentView {
  run: string;
  plugin: string;
  package: string;
  mode: "run" | "update";
  session: string;
  sessionName: SessionName;
  name: string;
  purpose: string;
  model: string;
  hasHostHalf: boolean;
  hasClientHalf: boolean;
  digest: string;
  requestedAt: number;
  state: "open" | "decided";
  position: number | null;
  total: number;
  intact: boolean;
  host: string | null;
  client: string | null;
  wants: Wants;
  consentedBefore: EarlierCode | null;
  decision: ConsentDecision | null;
}

/** Open requests of all sessions but damaged ones, oldest first; `total` counts them all. */
export interface Consents {
  consents: ConsentRow[];
  total: number;
  next: string | null;
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

export interface Decline {
  run: string;
  digest: string;
  key: string;
  feedback?: string | null;
}

export interface Denied {
  path: string | null;
  time: number;
  call: CallKey | string;
}

/** A failure of a running half. */
export interface Diagnostic {
  run: string;
  half: "host" | "client";
  phase: string;
  slot: string | null;
  message: string;
  stack: string | null;
  at: number;
}

/** The code of the version that a person consented to last, to show the difference; in the escaped form. */
export interface EarlierCode {
  package: string;
  host: string | null;
  client: string | null;
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

/** What went wrong, in the words of whoever noticed it. */
export interface Failure {
  message: string;
  stack?: string | null;
  line?: number | null;
}

/** A client half that failed after it had loaded; phase `guard` for one that was cut off. */
export interface HalfFailure {
  run: string;
  phase: "client-load" | "client-apply" | "client-render" | "guard";
  slot?: string | null;
  message: string;
  stack?: string | null;
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

/** The half beside the server. */
export interface HostState {
  status: "absent" | "pending" | "stopped" | "running" | "waiting" | "failed";
  provides: string[];
  waitingFor: string[];
  handlers: string[];
}

/** A call of a client half to its host half; `args` is any JSON. */
export interface Invoke {
  run: string;
  method: string;
  args?: unknown;
}

export interface Invoked {
  value: unknown;
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

/** One immutable version, without its code; `consented` says that it starts without a card. */
export interface PackageRow {
  package: string;
  name: string;
  purpose: string;
  hasHostHalf: boolean;
  hasClientHalf: boolean;
  digest: string;
  definedAt: number;
  consented: boolean;
}

/** One package with its code to read, in the escaped form; the digest covers exactly these two texts. */
export interface PackageText {
  plugin: string;
  package: string;
  name: string;
  purpose: string;
  host: string | null;
  client: string | null;
  digest: string;
  definedAt: number;
}

export interface PartialText {
  turn: number;
  step: number;
  text: string;
}

/** A request that waits for a person. */
export interface PendingRequest {
  run: string;
  package: string;
  mode: "run" | "update";
  requestedAt: number;
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

/** The plugin was stopped or removed; `was_running` is false where nothing of it ran or waited. */
export interface PluginEnded {
  plugin: string;
  wasRunning: boolean;
}

/** A plugin with everything that a panel shows, and no code. */
export interface PluginView {
  plugin: string;
  session: string;
  sessionName: SessionName;
  name: string;
  purpose: string;
  state: "defined" | "awaiting-approval" | "starting-host" | "client-pending" | "running" | "waiting" | "rejected" | "failed" | "cancelled" | "stopped";
  packages: PackageRow[];
  current: string | null;
  next: string | null;
  activeRun: ActiveRun | null;
  latest: AttemptView | null;
  pending: PendingRequest | null;
  future: boolean;
  consents: ConsentGiven[];
  diagnostics: Diagnostic[];
}

/** The plugins of all sessions but those whose log is damaged; each of these has a notice. */
export interface Plugins {
  plugins: PluginView[];
  notices: NoticeView[];
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

/** Takes back the consent to one package, or with `future` the one to future packages; exactly one of them. */
export interface Revoke {
  package?: string | null;
  future?: boolean;
  key: string;
}

export interface RunPlugin {
  package: string;
  mode: "run" | "update";
  key: string;
}

/** What was begun; with status `awaiting-approval` a card is open now. */
export interface RunReceipt {
  ok?: true;
  status: "awaiting-approval" | "starting-host" | "client-pending" | "running" | "waiting" | "rejected" | "failed" | "cancelled" | "stopped" | "starting";
  plugin: string;
  package: string;
  run: string;
  mode: "run" | "update";
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

/** One line of the list; `open_asks` counts all that waits for a person, the open consents among it. */
export interface Summary {
  id: string;
  title: string | null;
  name: SessionName;
  cwd: string;
  createdAt: number;
  lastTime: number;
  status: "idle" | "running" | "waiting" | "interrupted";
  openAsks: number;
  openConsents: number;
  preset: string;
  mode: string;
  policy: string;
  model: string | null;
  archived: boolean;
  turn: number | null;
}

/** Whether the report counts; where it does not, the page throws the half away. */
export interface Taken {
  accepted: boolean;
}

/** `event: delta`: more of what the model is saying; with `whole` the text so far, which replaces what was shown. */
export interface TextDelta {
  session: string;
  turn: number;
  step: number;
  text: string;
  whole: boolean;
}

/** Whether the client half of a run has loaded here; with `ok` false, what went wrong in which phase. */
export interface Verdict {
  run: string;
  ok: boolean;
  phase?: "client-load" | "client-apply" | null;
  message?: string | null;
  stack?: string | null;
  waitingFor?: string[];
}

/** What a package's code names: the services of each half, both together, and the seats of its client half. */
export interface Wants {
  services: string[];
  host: string[];
  client: string[];
  seats: string[];
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
