import { type Client, NotPlacet, Refused } from "./client";
import type { Ledger } from "./state";

/** Reads for the ledger: what cannot be read is null, and what that says about the connection is kept. */
export class Reader {
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

  /** What could not be read is read again, so that no count and no mark stays behind the log. */
  again(what: string, read: () => void): void {
    if (!["unlinked", "impostor"].includes(this.ledger.now.connection.state)) this.ledger.soon(what, 2000, read);
  }
}
