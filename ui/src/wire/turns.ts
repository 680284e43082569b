/** Holds one of these names in all tabs of this browser while the work lasts, whichever is free first. */
export type Hold = <T>(names: readonly string[], work: () => Promise<T>) => Promise<T>;

const inAllTabs: Hold = async (names, work) => {
  const others = new AbortController();
  let taken = false;
  const tried = names.map((name) =>
    navigator.locks.request(name, { signal: others.signal }, async () => {
      if (taken) return null;
      taken = true;
      others.abort(); // the names that are still waited for are let go
      return { value: await work() };
    }),
  );
  const ends = await Promise.allSettled(tried);
  for (const end of ends) if (end.status === "fulfilled" && end.value) return end.value.value;
  throw (ends.find((end) => end.status === "rejected" && end.reason !== others.signal.reason) as PromiseRejectedResult | undefined)?.reason ?? new Error("no turn was given");
};

const MOST = 3;
const OF_ONE = 2;
const named = (name: string, count: number): string[] => Array.from({ length: count }, (_, place) => `${name}-${place}`);

/**
 * Lets calls of halves go in turn. A browser has six connections to the server for all its tabs, and what a person
 * decides or stops must always find one, whatever halves call and however long their answers take.
 */
export class Turns {
  private readonly going = new Map<string, number>();
  private waiting: { whose: string; go: () => void }[] = [];

  constructor(private readonly hold: Hold = inAllTabs) {}

  /** Does the work once there is a place for it; over all tabs there are three, and `whose` has two of them at most. */
  async take<T>(whose: string, work: () => Promise<T>): Promise<T> {
    if (!this.may(whose)) await new Promise<void>((go) => this.waiting.push({ whose, go: () => go() }));
    else this.count(whose, 1);
    try {
      return await this.hold(named(`placet-half-call-of-${whose}`, OF_ONE), () => this.hold(named("placet-half-call", MOST), work));
    } finally {
      this.count(whose, -1);
      this.next();
    }
  }

  private may(whose: string): boolean {
    const going = [...this.going.values()].reduce((sum, one) => sum + one, 0);
    return going < MOST && (this.going.get(whose) ?? 0) < OF_ONE;
  }

  private count(whose: string, more: number): void {
    const left = (this.going.get(whose) ?? 0) + more;
    if (left > 0) this.going.set(whose, left);
    else this.going.delete(whose);
  }

  private next(): void {
    const first = this.waiting.find(({ whose }) => this.may(whose));
    if (!first) return;
    this.waiting = this.waiting.filter((one) => one !== first);
    this.count(first.whose, 1);
    first.go();
  }
}
