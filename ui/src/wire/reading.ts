import { folderName } from "../session/name";
import { blank, byOf, decisionOf, fold } from "../session/fold";
import type { Answers } from "./answers";
import { type Client, NotPlacet, Refused } from "./client";
import type { Consents } from "./consents";
import type { Plugins } from "./plugins";
import type { Reader } from "./reader";
import type { AskView, Asks, Browser, Config, Delta, EventPage, Json, LogEvent, SessionPage, Subject, Summary } from "./shapes";
import { type Ledger, type SessionView, emptyView } from "./state";
import type { News } from "./stream";

/** What a switch leaves in the log; which preset that makes is the server's word. */
const switches = new Set(["permission/preset", "sandbox/mode", "approval/policy"]);

/** What changes nothing in the list of sessions. */
const quiet = new Set(["step/start", "step/end", "tool/call", "tool/started", "cordis/started", "cordis/ready", "cordis/called"]);

const HOUSE = "house";

/** Keeps the ledger in step with the server: from its news as they come, and by reading what they do not hold. */
export class Reading {
  private readonly early = new Map<string, LogEvent[]>();
  /** Up to which event a session was read: an older answer that comes late takes nothing back. */
  private readonly readTo = new Map<string, number>();

  constructor(
    private readonly client: Client,
    private readonly reader: Reader,
    private readonly ledger: Ledger,
    private readonly answers: Answers,
    private readonly consents: Consents,
    private readonly plugins: Plugins,
    private readonly onUnlinked: () => void,
  ) {}

  // ── what the server tells ────────────────────────────────────

  hear(news: News): void {
    switch (news.kind) {
      case "connection":
        this.ledger.set({ connection: news.connection });
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
    const view = this.ledger.now.views[session];
    if (!view || view.state !== "ready") return;
    const same = view.partial && view.partial.turn === turn && view.partial.step === step;
    this.ledger.setView(session, { partial: { turn, step, text: whole || !same ? text : view.partial!.text + text } });
  }

  private house(event: LogEvent): void {
    if (event.type === "session/removed") this.removed(String(event.data.session), event.data.by);
    else if (this.ledger.now.browsers) void this.loadBrowsers();
  }

  /** The session is gone for everybody: what was open of it here says so, and nothing of it waits any more. */
  private removed(id: string, by: Json | undefined): void {
    const { sessions, asks, views, outbox } = this.ledger.now;
    const { [id]: _, ...unsent } = outbox;
    this.ledger.set({
      sessions: sessions?.filter((one) => one.id !== id) ?? null,
      asks: Object.fromEntries(Object.entries(asks).filter(([, ask]) => ask.session !== id)),
      outbox: unsent,
    });
    if (views[id]) this.ledger.setView(id, { ...emptyView, state: "missing", removedBy: byOf(by)?.name ?? "" });
    void this.loadSessions();
    this.ledger.soon("asks", 150, () => void this.loadAsks());
    this.consents.forget(id);
    this.plugins.forget(id);
  }

  private log(event: LogEvent): void {
    if (event.session === HOUSE) return this.house(event);
    const view = this.ledger.now.views[event.session];
    if (view?.state === "loading") this.early.set(event.session, [...(this.early.get(event.session) ?? []), event]);
    else if (view?.state === "ready" && event.seq > view.talk.head) {
      if (event.seq > view.talk.head + 1) void this.loadSession(event.session);
      else this.append(event.session, view, [event]);
    }
    if (event.type === "approval/asked") this.asked(event);
    else if (event.type === "approval/decided") this.decided(event);
    else if (event.type.startsWith("cordis/")) {
      this.consents.hear(event);
      this.plugins.hear(event);
    }
    if (view && switches.has(event.type)) this.ledger.soon(`session ${event.session}`, 120, () => void this.loadSession(event.session));
    if (!quiet.has(event.type)) this.ledger.soon("sessions", event.type.startsWith("cordis/") ? 400 : 120, () => void this.loadSessions());
  }

  private append(session: string, view: SessionView, events: LogEvent[]): void {
    const talk = fold(view.talk, events);
    const last = events.at(-1)!;
    const over = view.partial && (`assistant:${view.partial.turn}.${view.partial.step}` in talk.entries || last.type === "turn/end" || last.type === "assistant/message");
    const outbox = this.ledger.now.outbox[session]?.filter((one) => !(`message:${one.id}` in talk.entries));
    this.ledger.setView(session, { talk, events: [...view.events, ...events], partial: over ? null : view.partial });
    if (outbox) this.ledger.set({ outbox: { ...this.ledger.now.outbox, [session]: outbox } });
  }

  private asked(event: LogEvent): void {
    const { data } = event;
    const id = String(data.id);
    if (!this.ledger.now.asks[id]) {
      const subject = data.subject as unknown as Subject;
      const name = this.ledger.now.sessions?.find((one) => one.id === event.session)?.name ?? folderName(subject.cwd);
      const ask: AskView = {
        id, session: event.session, sessionName: name, agent: subject.agent, tool: String(data.toolName), reason: typeof data.reason === "string" ? data.reason : null,
        subject, digest: String(data.digest), askedAt: event.time, state: "open", decision: null, position: null, total: this.ledger.now.askTotal + 1,
        rearmed: false, earlierRun: false, fullAccess: subject.toMode === "danger-full-access", scriptCovered: subject.files.length > 0,
      };
      if (data.policy !== "never") this.ledger.set({ asks: { ...this.ledger.now.asks, [id]: ask }, askTotal: this.ledger.now.askTotal + 1 });
    }
    this.ledger.soon("asks", 150, () => void this.loadAsks());
  }

  private decided(event: LogEvent): void {
    const id = String(event.data.id);
    const ask = this.ledger.now.asks[id];
    const decision = decisionOf(event, this.ledger.now.views[event.session]?.talk.aborted);
    if (ask?.state === "open") this.ledger.set({ asks: { ...this.ledger.now.asks, [id]: { ...ask, state: "decided", decision } }, askTotal: Math.max(0, this.ledger.now.askTotal - 1) });
    this.answers.decided(id, event.data.key, decision);
    this.ledger.soon("asks", 150, () => void this.loadAsks());
  }

  // ── reading ──────────────────────────────────────────────────

  async refresh(): Promise<void> {
    await Promise.all([this.loadConfig(), this.loadSessions(), this.loadAsks(), this.consents.load(), this.plugins.load()]);
    for (const [id, view] of Object.entries(this.ledger.now.views)) if (view.state !== "missing") void this.loadSession(id);
  }

  async loadConfig(): Promise<void> {
    const config = await this.reader.newest<Config>("/api/config");
    if (config) this.ledger.set({ config });
  }

  async loadBrowsers(): Promise<void> {
    const answer = await this.reader.newest<{ pages: Browser[] }>("/api/pages");
    if (answer) this.ledger.set({ browsers: answer.pages });
  }

  async loadSessions(): Promise<void> {
    const answer = await this.reader.newest<{ sessions: Summary[] }>("/api/sessions");
    if (answer) this.ledger.set({ sessions: answer.sessions });
    else if (answer === null) this.reader.again("sessions", () => void this.loadSessions());
  }

  async loadAsks(): Promise<void> {
    const answer = await this.reader.newest<Asks>("/api/asks?state=open");
    if (answer) this.takeAsks(answer.asks, answer.total, answer.next, true);
    else if (answer === null) this.reader.again("asks", () => void this.loadAsks());
  }

  async moreAsks(): Promise<void> {
    const cursor = this.ledger.now.askNext;
    if (!cursor) return;
    const answer = await this.reader.get<Asks>(`/api/asks?state=open&cursor=${encodeURIComponent(cursor)}`);
    if (answer) this.takeAsks(answer.asks, answer.total, answer.next, false);
  }

  private takeAsks(asks: AskView[], total: number, next: string | null, first: boolean): void {
    const all = { ...this.ledger.now.asks };
    const listed = new Set(asks.map((ask) => ask.id));
    for (const ask of asks) all[ask.id] = merged(all[ask.id], ask);
    // Where one page holds all, an ask that is open here and not listed has been decided meanwhile.
    if (first && next === null) for (const ask of Object.values(all)) if (ask.state === "open" && !listed.has(ask.id)) void this.loadAsk(ask.id);
    this.ledger.set({ asks: all, askTotal: total, askNext: next });
  }

  async loadAsk(id: string): Promise<void> {
    const ask = await this.reader.get<AskView>(`/api/asks/${id}`);
    if (ask) this.ledger.set({ asks: { ...this.ledger.now.asks, [id]: merged(this.ledger.now.asks[id], ask) } });
  }

  async loadSession(id: string): Promise<void> {
    const known = this.ledger.now.views[id];
    if (!known) this.ledger.setView(id, {});
    try {
      const page = await this.client.get<SessionPage>(`/api/sessions/${id}`);
      const held = this.ledger.now.views[id]; // as it is now: the stream may have gone on while this was asked for
      const head = page.events.at(-1)?.seq ?? -1;
      if (held?.state === "ready" && head < (this.readTo.get(id) ?? -1)) return;
      this.readTo.set(id, head);
      const joins = held?.state === "ready" && page.events.length > 0 && page.events[0]!.seq <= held.talk.head + 1;
      const base = joins ? held : emptyView;
      const fresh = joins ? page.events.filter((event) => event.seq > held.talk.head) : page.events;
      const extra = (this.early.get(id) ?? []).filter((event) => event.seq > (page.events.at(-1)?.seq ?? -1));
      this.early.delete(id);
      const news = [...fresh, ...extra];
      const talk = fold(base.talk, news);
      const asks = { ...this.ledger.now.asks };
      for (const ask of page.asks) asks[ask.id] = merged(asks[ask.id], ask);
      const outbox = (this.ledger.now.outbox[id] ?? []).filter((one) => !(`message:${one.id}` in talk.entries));
      this.ledger.set({ asks, outbox: { ...this.ledger.now.outbox, [id]: outbox } });
      this.ledger.setView(id, { talk, events: [...base.events, ...news], before: joins ? held.before : page.before, partial: page.partial, permissions: page.permissions, jobs: page.jobs, state: "ready" });
    } catch (error) {
      if (error instanceof NotPlacet) this.ledger.set({ connection: { state: "impostor", since: Date.now() } });
      if (error instanceof Refused && error.status === 404) this.ledger.setView(id, { state: "missing" });
      else if (!known || known.state === "loading") this.ledger.setView(id, { state: "failed" });
      else this.reader.again(`session ${id}`, () => void this.loadSession(id)); // what is on screen is older than it looks
    }
  }

  async loadOlder(id: string): Promise<void> {
    const view = this.ledger.now.views[id];
    if (!view || view.before === null) return;
    const answer = await this.reader.get<EventPage>(`/api/sessions/${id}/events?before=${view.before}&limit=200`);
    if (!answer) return;
    const now = this.ledger.now.views[id]!;
    const events = [...answer.events, ...now.events];
    this.ledger.setView(id, { events, before: answer.before, talk: fold(blank, events) });
  }
}

/** Keeps the subject object that is on screen, so that a refreshed ask is the same sheet. */
const merged = (old: AskView | undefined, fresh: AskView): AskView => {
  if (!old || old.digest !== fresh.digest) return fresh;
  if (old.state === "decided" && fresh.state === "open") return old;
  return { ...fresh, subject: old.subject };
};
