import type { Answering, PersonOutcome } from "../ask/answering";
import { type Client, NotPlacet, Refused } from "./client";
import { newKey } from "./key";
import type { Decision, Receipt } from "./shapes";
import type { Ledger } from "./state";

interface Sent {
  key: string;
  outcome: PersonOutcome;
  feedback?: string;
  stop?: boolean;
}

/** The answers that this page has sent, and what became of each; only the server says that one counts. */
export class Answers {
  private readonly sent = new Map<string, Sent>();

  constructor(
    private readonly client: Client,
    private readonly ledger: Ledger,
    private readonly rereadAsk: (id: string) => void,
    private readonly rereadAsks: () => void,
  ) {}

  /** Sends an answer, with a stop of the turn in the same append if that is wanted. */
  async give(id: string, outcome: PersonOutcome, options: { feedback?: string; stop?: boolean }): Promise<void> {
    const state = this.ledger.now.answers[id]?.state;
    if (state === "sending" || state === "unknown" || this.ledger.now.connection.state !== "up") return;
    this.sent.set(id, { key: newKey(), outcome, ...options });
    await this.deliver(id);
  }

  /** The log has the decision of an ask: this page's own answer, or somebody else's that was first. */
  decided(id: string, key: unknown, decision: Decision): void {
    const sent = this.sent.get(id);
    const answer = this.ledger.now.answers[id];
    if (sent && answer && answer.state !== "settled" && answer.state !== "lost")
      this.ledger.setAnswer(id, key === sent.key ? { state: "settled" } : { state: "lost", outcome: sent.outcome, decision });
  }

  /** Sends the very same answer again, with the same key: it counts at most once. */
  async again(id: string): Promise<void> {
    if (this.sent.has(id) && this.ledger.now.connection.state === "up") await this.deliver(id);
  }

  private async deliver(id: string): Promise<void> {
    const ask = this.ledger.now.asks[id];
    const sent = this.sent.get(id);
    if (!ask || !sent) return;
    const { outcome, key, feedback, stop } = sent;
    this.ledger.setAnswer(id, { state: "sending", outcome });
    try {
      const answer = await this.client.post<{ receipt: Receipt }>(`/api/asks/${id}/decision`, { outcome, digest: ask.digest, key, feedback, stop: stop || undefined });
      const { receipt } = answer;
      const decision: Decision = { outcome, detail: null, who: receipt.who, channel: receipt.channel, evidence: null, strength: receipt.strength, time: receipt.time, digest: ask.digest, feedback: feedback ?? null };
      const now = this.ledger.now.asks[id]!;
      this.ledger.setAsk({ ...now, state: "decided", decision: now.decision ?? decision });
      this.ledger.setAnswer(id, { state: "settled" });
    } catch (error) {
      this.notDelivered(id, outcome, error);
    }
    this.ledger.soon("asks", 50, this.rereadAsks);
  }

  private notDelivered(id: string, outcome: PersonOutcome, error: unknown): void {
    const settled = this.ledger.now.answers[id]?.state;
    if (settled === "settled" || settled === "lost") return; // the log was faster than the answer
    const answer = undelivered<PersonOutcome, Decision>(outcome, error, this.ledger);
    if (answer.state === "lost") this.ledger.setAsk({ ...this.ledger.now.asks[id]!, state: "decided", decision: answer.decision });
    this.ledger.setAnswer(id, answer);
    if (error instanceof Refused && error.status === 422) this.rereadAsk(id);
  }
}

/** What became of an answer that was not accepted: who was first, why it does not fit, or that nobody knows. */
export function undelivered<Said extends string, Past>(outcome: Said, error: unknown, ledger: Ledger): Exclude<Answering<Said, Past>, { state: "none" | "sending" | "settled" }> {
  if (!(error instanceof Refused)) {
    if (error instanceof NotPlacet) ledger.set({ connection: { state: "impostor", since: Date.now() } });
    return { state: "unknown", outcome };
  }
  const body = error.body as { why?: string; decision?: Past } | null;
  if (error.status === 409 && body?.decision) return { state: "lost", outcome, decision: body.decision };
  if (error.status === 422) return { state: "refused", outcome, why: body?.why ?? error.message, stale: body?.why?.startsWith("the digest") ?? false };
  if (error.status === 503) return { state: "not-recorded", outcome };
  if (error.status >= 500) return { state: "unknown", outcome };
  return { state: "refused", outcome, why: error.message, stale: false };
}
