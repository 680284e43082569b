import { noAnswer } from "../ask/answering";
import type { ConsentSaid } from "../plugin/answer";
import { undelivered } from "./answers";
import { type Client, Refused } from "./client";
import { newKey } from "./key";
import type { Reader } from "./reader";
import type { Consent, ConsentDecision, LogEvent, Who } from "./shapes";
import type { Ledger } from "./state";
import type { ConsentAccepted, ConsentRow, ConsentView, Consents as Page } from "./types";

interface Sent {
  key: string;
  said: ConsentSaid;
  digest: string;
  feedback?: string;
}

/** Requests for consent as the page knows them, and the answers that it has sent; only the server says that one counts. */
export class Consents {
  private readonly sent = new Map<string, Sent>();

  constructor(
    private readonly client: Client,
    private readonly reader: Reader,
    private readonly ledger: Ledger,
  ) {}

  /** A `cordis/*` event: a request came, was answered, or ended without an answer. */
  hear(event: LogEvent): void {
    const run = String(event.data.run ?? "");
    const known = this.ledger.now.consents[run];
    if (event.type === "cordis/requested" && event.data.needsConsent === true) this.soon(60);
    const decision = decisionOf(event);
    if (!decision || !known || known.state === "decided") return;
    this.settle(known, decision);
    this.heard(run, event.data.key, decision);
    this.soon();
  }

  /** Nothing of a deleted session waits any more. */
  forget(session: string): void {
    this.ledger.set({ consents: Object.fromEntries(Object.entries(this.ledger.now.consents).filter(([, one]) => one.session !== session)) });
    this.soon();
  }

  /** What was settled here is known here; the list is read again for what else there is. */
  private soon(ms = 250): void {
    this.ledger.soon("consents", ms, () => void this.load());
  }

  private settle(consent: Consent, decision: ConsentDecision): void {
    const { consents, consentTotal } = this.ledger.now;
    this.ledger.set({ consents: { ...consents, [consent.run]: { ...consent, state: "decided", decision } }, consentTotal: Math.max(0, (consentTotal ?? 1) - 1) });
  }

  private heard(run: string, key: unknown, decision: ConsentDecision): void {
    const sent = this.sent.get(run);
    const answer = this.ledger.now.consentAnswers[run];
    if (sent && answer && answer.state !== "settled" && answer.state !== "lost")
      this.ledger.setConsentAnswer(run, key === sent.key ? { state: "settled" } : { state: "lost", outcome: sent.said, decision });
  }

  // ── reading ──────────────────────────────────────────────────

  async load(): Promise<void> {
    const page = await this.reader.newest<Page>("/api/consents");
    if (page === undefined) return;
    if (!page) return this.reader.again("consents", () => void this.load());
    const listed = new Set(page.consents.map((one) => one.run));
    this.take(page);
    // Where one page holds all, a request that is open here and not listed has been settled meanwhile.
    if (page.next === null) for (const one of Object.values(this.ledger.now.consents)) if (one.state === "open" && !listed.has(one.run)) void this.missed(one.run);
  }

  /** What was settled while this page did not hear: how, or that nothing is known of it any more. */
  private async missed(run: string): Promise<void> {
    if (await this.read(run)) return;
    const { [run]: _gone, ...rest } = this.ledger.now.consents;
    this.ledger.set({ consents: rest });
  }

  async more(): Promise<void> {
    const cursor = this.ledger.now.consentNext;
    const page = cursor && (await this.reader.get<Page>(`/api/consents?cursor=${encodeURIComponent(cursor)}`));
    if (page) this.take(page);
  }

  private take(page: Page): void {
    const all = { ...this.ledger.now.consents };
    for (const row of page.consents) all[row.run] = merged(all[row.run], row);
    this.ledger.set({ consents: all, consentTotal: page.total, consentNext: page.next });
  }

  /** Reads the whole of one request: its code, what it wants, and how it was settled; false where there is no such request, or no answer. */
  async read(run: string): Promise<boolean> {
    const view = await this.reader.get<ConsentView>(`/api/consents/${run}`);
    if (!view) return false;
    const { host, client, wants, consentedBefore, decision, ...row } = view;
    const known = this.ledger.now.consents[run];
    const same = known?.whole && known.digest === row.digest && known.whole.signed.host === host && known.whole.signed.client === client;
    const whole = { signed: same ? known.whole!.signed : { host, client }, wants, before: consentedBefore };
    this.ledger.setConsent({ ...merged(known, row), whole, decision: decision ?? known?.decision ?? null });
    return true;
  }

  // ── answering ────────────────────────────────────────────────

  async give(run: string, said: ConsentSaid, feedback?: string): Promise<void> {
    const state = (this.ledger.now.consentAnswers[run] ?? noAnswer).state;
    const consent = this.ledger.now.consents[run];
    if (!consent || state === "sending" || state === "unknown" || this.ledger.now.connection.state !== "up") return;
    this.sent.set(run, { key: newKey(), said, digest: consent.digest, feedback });
    await this.deliver(run);
  }

  /** Sends the very same answer again, with the same key: it counts at most once. */
  async again(run: string): Promise<void> {
    if (this.sent.has(run) && this.ledger.now.connection.state === "up") await this.deliver(run);
  }

  private async deliver(run: string): Promise<void> {
    const consent = this.ledger.now.consents[run];
    const sent = this.sent.get(run);
    if (!consent || !sent) return;
    const { said, key, digest, feedback } = sent;
    this.ledger.setConsentAnswer(run, { state: "sending", outcome: said });
    try {
      const base = `/api/plugins/${consent.plugin}`;
      const { receipt } = await (said === "declined"
        ? this.client.post<ConsentAccepted>(`${base}/decline`, { run, digest, key, feedback })
        : this.client.post<ConsentAccepted>(`${base}/consent`, { run, digest, width: said, key }));
      const now = this.ledger.now.consents[run];
      if (now?.state === "open") this.settle(now, { ...receipt, digest, feedback: feedback ?? null });
      this.ledger.setConsentAnswer(run, { state: "settled" });
    } catch (error) {
      this.notDelivered(run, said, error);
    }
    this.soon();
  }

  private notDelivered(run: string, said: ConsentSaid, error: unknown): void {
    const settled = this.ledger.now.consentAnswers[run]?.state;
    if (settled === "settled" || settled === "lost") return; // the log was faster than the answer
    const over = error instanceof Refused && (error.body as { reason?: string } | null)?.reason === "not-pending";
    const told = undelivered<ConsentSaid, ConsentDecision | null>(said, error, this.ledger);
    const answer = over && told.state === "refused" ? { state: "lost" as const, outcome: said, decision: null } : told;
    const now = this.ledger.now.consents[run];
    if (answer.state === "lost" && answer.decision && now?.state === "open") this.settle(now, answer.decision);
    this.ledger.setConsentAnswer(run, answer);
    if (error instanceof Refused) void this.read(run);
  }
}

/** Keeps what a row does not tell: the code that is on screen, and a decision that was heard before the row was read. */
const merged = (known: Consent | undefined, row: ConsentRow): Consent => {
  if (!known || known.digest !== row.digest) return { ...row, whole: null, decision: null };
  if (known.state === "decided" && row.state === "open") return known;
  return { ...row, whole: known.whole, decision: known.decision };
};

/** How an event settles the request of its run, or null where it does not. */
const decisionOf = ({ type, time, data }: LogEvent): ConsentDecision | null => {
  const text = (name: string) => (typeof data[name] === "string" ? (data[name] as string) : null);
  if (type === "cordis/settled") return { outcome: "cancelled", detail: text("detail"), time };
  if (type !== "cordis/consented" && type !== "cordis/declined") return null;
  return {
    outcome: type === "cordis/consented" ? "consented" : "declined",
    width: text("width") as ConsentDecision["width"],
    who: data.who as unknown as Who,
    channel: text("channel"),
    evidence: text("evidence"),
    strength: text("strength"),
    time,
    digest: text("digest"),
    feedback: text("feedback"),
  };
};
