/** Something that holds a name in all tabs of this browser while the work lasts. */
export type Hold = <T>(name: string, work: () => Promise<T>) => Promise<T>;

const inAllTabs: Hold = async (name, work) => (await navigator.locks.request(name, work)) as Awaited<ReturnType<typeof work>>;

const MOST = 3;
const OF_ONE = 2;

/**
 * Lets calls of halves go in turn. A browser has six connections to the server for all its tabs, and what a person
 * decides or stops must always find one, whatever halves call and however long their answers take.
 */
export class Turns {
  private readonly free = Array.from({ length: MOST }, (_, place) => place);
  private readonly going = new Map<string, number>();
  private waiting: { whose: string; go: () => void }[] = [];

  constructor(private readonly hold: Hold = inAllTabs) {}

  /** Does the work once there is a place for it; `whose` has two of the three places at most. */
  async take<T>(whose: string, work: () => Promise<T>): Promise<T> {
    if (!this.may(whose)) await new Promise<void>((go) => this.waiting.push({ whose, go: () => go() }));
    else this.count(whose, 1);
    const place = this.free.shift()!;
    try {
      return await this.hold(`placet-half-call-${place}`, work);
    } finally {
      this.free.push(place);
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
