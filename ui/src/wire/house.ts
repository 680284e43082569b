import { type Answering, type PersonOutcome, noAnswer } from "../ask/answering";
import { type Talk, blank, decisionOf, fold } from "../session/fold";
import { Client, NoAnswer, NotPlacet, Refused } from "./client";
import type { PageKey } from "./key";
import type { AskView, Asks, Config, Decision, Delta, EventPage, LogEvent, Partial, Preset, Receipt, SessionPage, Subject, Summary } from "./shapes";
import { type Connection, type News, SharedStream } from "./stream";

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
  state: "loading" | "ready" | "missing" | "failed";
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
  notes: Record<string, string>;
  outbox: Record<string, Outgoing[]>;
  told: { text: string; at: number } | null;
}

const emptyView: SessionView = { talk: blank, events: [], before: null, partial: null, permissions: null, state: "loading" };

export const newKey = (): string => crypto.randomUUID();

interface Sent {
  key: string;
  outcome: PersonOutcome;
  feedback?: string;
}

/** All that the page knows of the server, and everything that a person can do there. One per tab. */
export class House {
  private state: HouseState = {
    connection: { state: "connecting", since: Date.now() },
    config: null, sessions: null, views: {}, asks: {}, askTotal: 0, askNext: null, answers: {}, notes: {}, outbox: {}, told: null,
  };
  private readonly listeners = new Set<() => void>();
  private readonly client: Client;
  private readonly stream: SharedStream;
  private readonly sent = new Map<string, Sent>();
  private readonly early = new Map<string, LogEvent[]>();
  private timers: Record<string, ReturnType<typeof setTimeout>> = {};

  constructor(
    key: PageKey,
    private readonly onUnlinked: () => void,
  ) {
    this.client = new Client(key);
    this.stream = new SharedStream(this.client, (news) => this.hear(news));
  }

  start(): void {
    this.stream.start(null);
  }
  stop(): void {
    this.stream.stop();
    for (const timer of Object.values(this.timers)) clearTimeout(timer);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly snapshot = (): HouseState => this.state;

  private set(change: Change<HouseState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }
  private setView(id: string, change: Change<SessionView>): void {
    this.set({ views: { ...this.state.views, [id]: { ...(this.state.views[id] ?? emptyView), ...change } } });
  }
  private setAnswer(id: string, answer: Answering): void {
    this.set({ answers: { ...this.state.answers, [id]: answer } });
  }
  private tell(text: string): void {
    this.set({ told: { text, at: Date.now() } });
  }
  private soon(name: string, ms: number, act: () => void): void {
    if (this.timers[name] !== undefined) return;
    this.timers[name] = setTimeout(() => {
      delete this.timers[name];
      act();
    }, ms);
  }

  // ── what the server tells ────────────────────────────────────

  private hear(news: News): void {
    switch (news.kind) {
      case "connection":
        this.set({ connection: news.connection });
        if (news.connection.state === "up") void this.refresh();
        if (news.connection.state === "unlinked") this.onUnlinked();
        return;
      case "reset":
        void this.refresh();
        return;
      case "log":
        this.log(news.event);
        return;
      case "delta":
        this.delta(news.delta);
        return;
    }
  }

  private delta({ session, turn, step, text, whole }: Delta): void {
    const view = this.state.views[session];
    if (!view || view.state !== "ready") return;
    const same = view.partial && view.partial.turn === turn && view.partial.step === step;
    this.setView(session, { partial: { turn, step, text: whole || !same ? text : view.partial!.text + text } });
  }

  private log(event: LogEvent): void {
    const view = this.state.views[event.session];
    if (view?.state === "loading") this.early.set(event.session, [...(this.early.get(event.session) ?? []), event]);
    else if (view?.state === "ready" && event.seq > view.talk.head) {
      if (event.seq > view.talk.head + 1) void this.loadSession(event.session);
      else this.append(event.session, view, [event]);
    }
    if (event.type === "approval/asked") this.asked(event);
    else if (event.type === "approval/decided") this.decided(event);
    if (event.type !== "step/start" && event.type !== "step/end" && event.type !== "tool/call" && event.type !== "tool/started") this.soon("sessions", 120, () => void this.loadSessions());
  }

  private append(session: string, view: SessionView, events: LogEvent[]): void {
    const talk = fold(view.talk, events);
    const last = events.at(-1)!;
    const over = view.partial && (`assistant:${view.partial.turn}.${view.partial.step}` in talk.entries || last.type === "turn/end" || last.type === "assistant/message");
    const outbox = this.state.outbox[session]?.filter((one) => !(`message:${one.id}` in talk.entries));
    this.setView(session, { talk, events: [...view.events, ...events], partial: over ? null : view.partial });
    if (outbox) this.set({ outbox: { ...this.state.outbox, [session]: outbox } });
  }

  private asked(event: LogEvent): void {
    const { data } = event;
    const id = String(data.id);
    if (!this.state.asks[id]) {
      const subject = data.subject as unknown as Subject;
      const title = this.state.sessions?.find((one) => one.id === event.session)?.title ?? null;
      const ask: AskView = {
        id, session: event.session, sessionTitle: title, agent: subject.agent, tool: String(data.toolName), reason: typeof data.reason === "string" ? data.reason : null,
        subject, digest: String(data.digest), askedAt: event.time, state: "open", decision: null, position: null, total: this.state.askTotal + 1,
        rearmed: false, earlierRun: false, fullAccess: subject.toMode === "danger-full-access", scriptCovered: false,
      };
      if (data.policy !== "never") this.set({ asks: { ...this.state.asks, [id]: ask }, askTotal: this.state.askTotal + 1 });
    }
    this.soon("asks", 150, () => void this.loadAsks());
  }

  private decided(event: LogEvent): void {
    const id = String(event.data.id);
    const ask = this.state.asks[id];
    const decision = decisionOf(event);
    if (ask?.state === "open") this.set({ asks: { ...this.state.asks, [id]: { ...ask, state: "decided", decision } }, askTotal: Math.max(0, this.state.askTotal - 1) });
    const sent = this.sent.get(id);
    const answer = this.state.answers[id];
    if (sent && answer && answer.state !== "settled" && answer.state !== "lost")
      this.setAnswer(id, event.data.key === sent.key ? { state: "settled" } : { state: "lost", outcome: sent.outcome, decision });
    this.soon("asks", 150, () => void this.loadAsks());
  }

  // ── reading ──────────────────────────────────────────────────

  private async refresh(): Promise<void> {
    await Promise.all([this.loadConfig(), this.loadSessions(), this.loadAsks()]);
    for (const [id, view] of Object.entries(this.state.views)) if (view.state !== "missing") void this.loadSession(id);
  }

  private async quietly<T>(act: () => Promise<T>): Promise<T | null> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof Refused && error.code === "not-linked") this.onUnlinked();
      if (error instanceof NotPlacet) this.set({ connection: { state: "impostor", since: Date.now() } });
      return null;
    }
  }

  private async loadConfig(): Promise<void> {
    const config = await this.quietly(() => this.client.get<Config>("/api/config"));
    if (config) this.set({ config });
  }

  async loadSessions(): Promise<void> {
    const answer = await this.quietly(() => this.client.get<{ sessions: Summary[] }>("/api/sessions"));
    if (answer) this.set({ sessions: answer.sessions });
  }

  async loadAsks(): Promise<void> {
    const answer = await this.quietly(() => this.client.get<Asks>("/api/asks?state=open"));
    if (answer) this.takeAsks(answer.asks, answer.total, answer.next, true);
  }

  async moreAsks(): Promise<void> {
    const cursor = this.state.askNext;
    if (!cursor) return;
    const answer = await this.quietly(() => this.client.get<Asks>(`/api/asks?state=open&cursor=${encodeURIComponent(cursor)}`));
    if (answer) this.takeAsks(answer.asks, answer.total, answer.next, false);
  }

  private takeAsks(asks: AskView[], total: number, next: string | null, first: boolean): void {
    const all = { ...this.state.asks };
    const listed = new Set(asks.map((ask) => ask.id));
    for (const ask of asks) all[ask.id] = merged(all[ask.id], ask);
    // Where one page holds all, an ask that is open here and not listed has been decided meanwhile.
    if (first && next === null) for (const ask of Object.values(all)) if (ask.state === "open" && !listed.has(ask.id)) void this.loadAsk(ask.id);
    this.set({ asks: all, askTotal: total, askNext: next });
  }

  async loadAsk(id: string): Promise<void> {
    const ask = await this.quietly(() => this.client.get<AskView>(`/api/asks/${id}`));
    if (ask) this.set({ asks: { ...this.state.asks, [id]: merged(this.state.asks[id], ask) } });
  }

  async loadSession(id: string): Promise<void> {
    const known = this.state.views[id];
    if (!known) this.setView(id, {});
    try {
      const page = await this.client.get<SessionPage>(`/api/sessions/${id}`);
      const joins = known?.state === "ready" && page.events.length > 0 && page.events[0]!.seq <= known.talk.head + 1;
      const base = joins ? known : emptyView;
      const fresh = joins ? page.events.filter((event) => event.seq > known.talk.head) : page.events;
      const extra = (this.early.get(id) ?? []).filter((event) => event.seq > (page.events.at(-1)?.seq ?? -1));
      this.early.delete(id);
      const news = [...fresh, ...extra];
      const talk = fold(base.talk, news);
      const asks = { ...this.state.asks };
      for (const ask of page.asks) asks[ask.id] = merged(asks[ask.id], ask);
      const outbox = (this.state.outbox[id] ?? []).filter((one) => !(`message:${one.id}` in talk.entries));
      this.set({ asks, outbox: { ...this.state.outbox, [id]: outbox } });
      this.setView(id, { talk, events: [...base.events, ...news], before: joins ? known.before : page.before, partial: page.partial, permissions: page.permissions, state: "ready" });
    } catch (error) {
      if (error instanceof Refused && error.status === 404) this.setView(id, { state: "missing" });
      else if (!known || known.state === "loading") this.setView(id, { state: "failed" });
      if (error instanceof NotPlacet) this.set({ connection: { state: "impostor", since: Date.now() } });
    }
  }

  async loadOlder(id: string): Promise<void> {
    const view = this.state.views[id];
    if (!view || view.before === null) return;
    const answer = await this.quietly(() => this.client.get<EventPage>(`/api/sessions/${id}/events?before=${view.before}&limit=200`));
    if (!answer) return;
    const now = this.state.views[id]!;
    const events = [...answer.events, ...now.events];
    this.setView(id, { events, before: answer.before, talk: fold(blank, events) });
  }

  // ── what a person does ───────────────────────────────────────

  setNote(id: string, text: string): void {
    this.set({ notes: { ...this.state.notes, [id]: text } });
  }

  async answer(id: string, outcome: PersonOutcome, options: { feedback?: string; stop?: boolean } = {}): Promise<void> {
    const state = this.state.answers[id]?.state;
    if (state === "sending" || state === "unknown" || this.state.connection.state !== "up") return;
    this.sent.set(id, { key: newKey(), outcome, feedback: options.feedback });
    await this.deliver(id);
    const session = this.state.asks[id]?.session;
    if (options.stop && session) await this.stopTurn(session);
  }

  /** Sends the very same answer again, with the same key: it counts at most once. */
  async again(id: string): Promise<void> {
    if (this.sent.has(id) && this.state.connection.state === "up") await this.deliver(id);
  }

  private async deliver(id: string): Promise<void> {
    const ask = this.state.asks[id];
    const sent = this.sent.get(id);
    if (!ask || !sent) return;
    const { outcome, key, feedback } = sent;
    this.setAnswer(id, { state: "sending", outcome });
    try {
      const answer = await this.client.post<{ receipt: Receipt }>(`/api/asks/${id}/decision`, { outcome, digest: ask.digest, key, feedback });
      const { receipt } = answer;
      const decision: Decision = { outcome, detail: null, who: receipt.who, channel: receipt.channel, evidence: null, strength: receipt.strength, time: receipt.time, digest: ask.digest, feedback: feedback ?? null };
      const now = this.state.asks[id]!;
      this.set({ asks: { ...this.state.asks, [id]: { ...now, state: "decided", decision: now.decision ?? decision } } });
      this.setAnswer(id, { state: "settled" });
    } catch (error) {
      this.notDelivered(id, outcome, error);
    }
    this.soon("asks", 50, () => void this.loadAsks());
  }

  private notDelivered(id: string, outcome: PersonOutcome, error: unknown): void {
    const settled = this.state.answers[id]?.state;
    if (settled === "settled" || settled === "lost") return; // the log was faster than the answer
    if (!(error instanceof Refused)) {
      if (error instanceof NotPlacet) this.set({ connection: { state: "impostor", since: Date.now() } });
      this.setAnswer(id, { state: "unknown", outcome });
      return;
    }
    const body = error.body as { reason?: string; why?: string; decision?: Decision } | null;
    if (error.status === 409 && body?.decision) {
      const now = this.state.asks[id]!;
      this.set({ asks: { ...this.state.asks, [id]: { ...now, state: "decided", decision: body.decision } } });
      this.setAnswer(id, { state: "lost", outcome, decision: body.decision });
    } else if (error.status === 422) {
      this.setAnswer(id, { state: "refused", outcome, why: body?.why ?? error.message, stale: body?.why === "digest" });
      void this.loadAsk(id);
    } else if (error.status === 503) this.setAnswer(id, { state: "not-recorded", outcome });
    else if (error.status >= 500) this.setAnswer(id, { state: "unknown", outcome });
    else this.setAnswer(id, { state: "refused", outcome, why: error.message, stale: false });
  }

  async say(session: string, text: string, steer: boolean): Promise<void> {
    const message: Outgoing = { id: `m-${newKey()}`, text, steer, state: "sending" };
    this.set({ outbox: { ...this.state.outbox, [session]: [...(this.state.outbox[session] ?? []), message] } });
    await this.post(session, message);
  }

  async sayAgain(session: string, id: string): Promise<void> {
    const message = this.state.outbox[session]?.find((one) => one.id === id);
    if (message) await this.post(session, message);
  }

  private mark(session: string, id: string, state: Outgoing["state"]): void {
    this.set({ outbox: { ...this.state.outbox, [session]: (this.state.outbox[session] ?? []).map((one) => (one.id === id ? { ...one, state } : one)) } });
  }

  private async post(session: string, message: Outgoing): Promise<void> {
    this.mark(session, message.id, "sending");
    try {
      await this.client.post(`/api/sessions/${session}/messages`, { text: message.text, id: message.id, steer: message.steer });
    } catch (error) {
      this.mark(session, message.id, "failed");
      if (error instanceof Refused && error.message) this.tell(error.message);
    }
  }

  /** True where the stop is recorded or there was nothing to stop. */
  async stopTurn(session: string): Promise<boolean> {
    try {
      await this.client.post(`/api/sessions/${session}/stop`, { key: newKey() });
      return true;
    } catch (error) {
      return error instanceof Refused && error.status === 409;
    }
  }

  async create(fields: { cwd: string; preset?: string; message?: string; model?: string; key: string }): Promise<{ session: Summary } | { refused: string }> {
    try {
      const session = await this.client.post<Summary>("/api/sessions", fields);
      void this.loadSessions();
      return { session };
    } catch (error) {
      return { refused: error instanceof Refused ? [error.message, error.hint].filter(Boolean).join(" ") : error instanceof NoAnswer ? "" : String(error) };
    }
  }

  async permit(session: string, change: { preset: string; confirm?: boolean }): Promise<boolean> {
    try {
      const answer = await this.client.post<{ permissions: SessionView["permissions"] }>(`/api/sessions/${session}/permission`, { ...change, key: newKey() });
      if (answer.permissions) this.setView(session, { permissions: answer.permissions });
      void this.loadSessions();
      return true;
    } catch {
      return false;
    }
  }

  async setModel(session: string, model: string): Promise<void> {
    try {
      await this.client.post(`/api/sessions/${session}/model`, { model, key: newKey() });
    } catch (error) {
      if (error instanceof Refused) this.tell(error.message);
    }
    void this.loadSessions();
  }

  async change(session: string, fields: { title?: string; archived?: boolean }): Promise<boolean> {
    try {
      await this.client.patch(`/api/sessions/${session}`, { ...fields, key: newKey() });
      void this.loadSessions();
      return true;
    } catch (error) {
      if (error instanceof Refused) this.tell(error.message);
      return false;
    }
  }

  async remove(session: string): Promise<boolean> {
    try {
      await this.client.remove(`/api/sessions/${session}`);
      void this.loadSessions();
      return true;
    } catch (error) {
      if (error instanceof Refused) this.tell(error.message);
      return false;
    }
  }

  retry(): void {
    this.stream.retry();
  }

  answerOf(id: string): Answering {
    return this.state.answers[id] ?? noAnswer;
  }
}

type Change<T> = { [K in keyof T]?: T[K] };

/** Keeps the subject object that is on screen, so that a refreshed ask is the same sheet. */
const merged = (old: AskView | undefined, fresh: AskView): AskView => {
  if (!old || old.digest !== fresh.digest) return fresh;
  if (old.state === "decided" && fresh.state === "open") return old;
  return { ...fresh, subject: old.subject };
};
