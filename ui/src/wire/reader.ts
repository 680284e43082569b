import { type Client, NotPlacet, Refused } from "./client";
import type { Ledger } from "./state";

/** Reads for the ledger: what cannot be read is null, and what that says about the connection is kept. */
export class Reader {
  private begun = 0;
  private readonly answered = new Map<string, number>();

  constructor(
    private readonly client: Client,
    private readonly ledger: Ledger,
    private readonly onUnlinked: () => void,
  ) {}

  async get<T>(path: string): Promise<T | null> {
    try {
      return await this.client.get<T>(path);
    } catch (error) {
      if (error instanceof Refused && error.code === "not-linked") this.onUnlinked();
      if (error instanceof NotPlacet) this.ledger.set({ connection: { state: "impostor", since: Date.now() } });
      return null;
    }
  }

  /**
   * Reads what is read after every change. Undefined where a reading that began later was answered before: this answer
   * is older than what is known, and a list that took it would keep what is gone.
   */
  async newest<T>(path: string): Promise<T | null | undefined> {
    const number = ++this.begun;
    const answer = await this.get<T>(path);
    if (answer === null) return null;
    if ((this.answered.get(path) ?? 0) > number) return undefined;
    this.answered.set(path, number);
    return answer;
  }

  /** What could not be read is read again, so that no count and no mark stays behind the log. */
  again(what: string, read: () => void): void {
    if (!["unlinked", "impostor"].includes(this.ledger.now.connection.state)) this.ledger.soon(what, 2000, read);
  }
}
