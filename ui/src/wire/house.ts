import { type Answering, type PersonOutcome, noAnswer } from "../ask/answering";
import { Answers } from "./answers";
import { Client, NoAnswer, Refused } from "./client";
import { Consents } from "./consents";
import { type PageKey, newKey } from "./key";
import { Plugins } from "./plugins";
import { Reader } from "./reader";
import { Reading } from "./reading";
import type { Summary } from "./shapes";
import { type HouseState, Ledger, type Outgoing, type SessionView } from "./state";
import { SharedStream } from "./stream";
import type { ErrorBody, JobName, JobOutput, JobView } from "./types";

/** The page's one way to the server: what it holds, and everything that a person can do there. One per tab. */
export class House {
  private readonly ledger = new Ledger();
  private readonly client: Client;
  private readonly answers: Answers;
  private readonly reading: Reading;
  private readonly stream: SharedStream;
  readonly consents: Consents;
  readonly plugins: Plugins;
  readonly subscribe = this.ledger.subscribe;
  readonly snapshot = (): HouseState => this.ledger.now;

  constructor(key: PageKey, onUnlinked: () => void) {
    this.client = new Client(key);
    this.answers = new Answers(this.client, this.ledger, (id) => void this.reading.loadAsk(id), () => void this.reading.loadAsks());
    const reader = new Reader(this.client, this.ledger, onUnlinked);
    this.consents = new Consents(this.client, reader, this.ledger);
    this.plugins = new Plugins(this.client, reader, this.ledger);
    this.reading = new Reading(this.client, reader, this.ledger, this.answers, this.consents, this.plugins, onUnlinked);
    this.stream = new SharedStream(this.client, (news) => this.reading.hear(news));
  }

  start(): void {
    this.stream.start(null);
  }
  stop(): void {
    this.stream.stop();
    this.ledger.close();
  }
  retry(): void {
    this.stream.retry();
  }

  loadSession(id: string): Promise<void> {
    return this.reading.loadSession(id);
  }
  loadOlder(id: string): Promise<void> {
    return this.reading.loadOlder(id);
  }
  moreAsks(): Promise<void> {
    return this.reading.moreAsks();
  }

  loadBrowsers(): Promise<void> {
    return this.reading.loadBrowsers();
  }

  answerOf(id: string): Answering {
    return this.ledger.now.answers[id] ?? noAnswer;
  }
  setNote(id: string, text: string): void {
    this.ledger.set({ notes: { ...this.ledger.now.notes, [id]: text } });
  }
  answer(id: string, outcome: PersonOutcome, options: { feedback?: string; stop?: boolean } = {}): Promise<void> {
    return this.answers.give(id, outcome, options);
  }
  again(id: string): Promise<void> {
    return this.answers.again(id);
  }

  async say(session: string, text: string, steer: boolean): Promise<void> {
    const message: Outgoing = { id: `m-${newKey()}`, text, steer, state: "sending" };
    this.ledger.setOutbox(session, [...(this.ledger.now.outbox[session] ?? []), message]);
    await this.post(session, message);
  }

  async sayAgain(session: string, id: string): Promise<void> {
    const message = this.ledger.now.outbox[session]?.find((one) => one.id === id);
    if (message) await this.post(session, message);
  }

  private mark(session: string, id: string, state: Outgoing["state"]): void {
    this.ledger.setOutbox(session, (this.ledger.now.outbox[session] ?? []).map((one) => (one.id === id ? { ...one, state } : one)));
  }

  private async post(session: string, message: Outgoing): Promise<void> {
    this.mark(session, message.id, "sending");
    try {
      await this.client.post(`/api/sessions/${session}/messages`, { text: message.text, id: message.id, steer: message.steer });
    } catch (error) {
      this.mark(session, message.id, "failed");
      if (error instanceof Refused && error.message) this.ledger.tell(error.message);
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

  /** Moves away what a call has made; tells what kept it from that, or null. */
  async moveAway(session: string, path: string): Promise<string | null> {
    try {
      await this.client.post(`/api/sessions/${session}/move-away`, { path, key: newKey() });
      return null;
    } catch (error) {
      return error instanceof Refused ? error.message : "";
    }
  }

  async create(fields: { cwd: string; preset?: string; message?: string; model?: string; key: string }): Promise<{ session: Summary } | { refused: string }> {
    try {
      const session = await this.client.post<Summary>("/api/sessions", fields);
      void this.reading.loadConfig(); // the suggested folder may be there now
      void this.reading.loadSessions();
      return { session };
    } catch (error) {
      return { refused: error instanceof Refused ? [error.message, error.hint].filter(Boolean).join(" ") : error instanceof NoAnswer ? "" : String(error) };
    }
  }

  async readJob(session: string, job: string, after: number): Promise<JobOutput | null> {
    try {
      return await this.client.get<JobOutput>(`/api/sessions/${session}/jobs/${job}/output?after=${after}`);
    } catch {
      return null;
    }
  }

  /** Ends a command in the background; true where it is over. */
  async killJob(session: string, job: string): Promise<boolean> {
    try {
      return (await this.client.post<JobView>(`/api/sessions/${session}/jobs/${job}/kill`, { key: newKey() })).state === "ended";
    } catch (error) {
      if (error instanceof Refused && error.message) this.ledger.tell(error.message);
      return false;
    }
  }

  /** Switches the preset; returns whether it was, or the jobs that have to end first and were not confirmed. */
  async permit(session: string, change: { preset: string; confirm?: boolean }): Promise<boolean | JobName[]> {
    try {
      const answer = await this.client.post<{ permissions: SessionView["permissions"] }>(`/api/sessions/${session}/permission`, { ...change, key: newKey() });
      if (answer.permissions) this.ledger.setView(session, { permissions: answer.permissions });
      void this.reading.loadSessions();
      return true;
    } catch (error) {
      const jobs = error instanceof Refused && error.code === "jobs-running" ? (error.body as ErrorBody).error.jobs : null;
      return jobs ?? false;
    }
  }

  async setModel(session: string, model: string): Promise<void> {
    try {
      await this.client.post(`/api/sessions/${session}/model`, { model, key: newKey() });
    } catch (error) {
      if (error instanceof Refused) this.ledger.tell(error.message);
    }
    void this.reading.loadSessions();
  }

  async change(session: string, fields: { title?: string; archived?: boolean }): Promise<boolean> {
    try {
      await this.client.patch(`/api/sessions/${session}`, { ...fields, key: newKey() });
      void this.reading.loadSessions();
      return true;
    } catch (error) {
      if (error instanceof Refused) this.ledger.tell(error.message);
      return false;
    }
  }

  /** Signs a browser out for good, this one too. */
  async signOut(keyId: string): Promise<boolean> {
    try {
      await this.client.send("POST", `/api/pages/${keyId}/revoke`, "{}");
      await this.reading.loadBrowsers();
      return true;
    } catch (error) {
      if (error instanceof Refused) this.ledger.tell(error.message);
      return false;
    }
  }

  async remove(session: string): Promise<boolean> {
    try {
      await this.client.remove(`/api/sessions/${session}`);
      void this.reading.loadSessions();
      return true;
    } catch (error) {
      if (error instanceof Refused) this.ledger.tell(error.message);
      return false;
    }
  }
}
