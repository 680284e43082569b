/** Gathers what the half says into one text at a time: nothing more is sent until the page has taken the last. */
import { type Operation, type Said, bounds } from "../wire";

/** Taken before the realm is made small. */
const later = queueMicrotask.bind(globalThis);
const ROOM = bounds.message - 1_024;

export class Outbox {
  private waiting: Said[] = [];
  private latest = new Map<string, Operation>();
  private inFlight = false;
  private scheduled = false;

  constructor(private readonly post: (text: string) => void) {}

  say(said: Said): void {
    this.waiting.push(said);
    this.soon();
  }

  /** Adds operations; a property or text that is set again before it was sent takes the place of the earlier one. */
  operations(root: number, acknowledged: number, operations: Operation[]): void {
    const kept = operations.filter((one) => {
      if (one[0] !== "u" && one[0] !== "t") return true;
      const key = `${root} ${one[0]} ${one[1]}`;
      const earlier = this.latest.get(key);
      if (earlier) earlier[2] = one[2];
      else this.latest.set(key, one);
      return !earlier;
    });
    const last = this.waiting.at(-1);
    if (last && last[0] === "ops" && last[1] === root) {
      last[2] = acknowledged;
      last[3].push(...kept);
    } else this.waiting.push(["ops", root, acknowledged, kept]);
    this.soon();
  }

  /** The page has taken what was sent. */
  go(): void {
    this.inFlight = false;
    this.flush();
  }

  private soon(): void {
    if (this.scheduled || this.inFlight) return;
    this.scheduled = true;
    later(() => later(() => {
      this.scheduled = false;
      this.flush(); // what was said right after goes along
    }));
  }

  private flush(): void {
    if (this.inFlight || this.waiting.length === 0) return;
    const parts: string[] = [];
    let size = 2;
    while (this.waiting.length) {
      const said = this.waiting[0]!;
      let text = JSON.stringify(said);
      if (size + text.length > ROOM) {
        if (parts.length) break;
        text = this.divided(said);
        parts.push(text);
        break;
      }
      parts.push(text);
      size += text.length + 1;
      this.waiting.shift();
    }
    this.latest.clear(); // what is on its way cannot be changed any more
    this.inFlight = true;
    this.post(`[${parts.join(",")}]`);
  }

  /** As many of the operations as fit in one message; the rest stays. One that fits in none is left out and told of. */
  private divided(said: Said): string {
    if (said[0] !== "ops") {
      this.waiting.shift();
      return JSON.stringify(["trouble", "something too long was sent and left out", ""] satisfies Said);
    }
    const fits: Operation[] = [];
    let size = 64;
    while (said[3].length) {
      const length = JSON.stringify(said[3][0]).length + 1;
      if (size + length > ROOM) break;
      size += length;
      fits.push(said[3].shift()!);
    }
    if (fits.length) return JSON.stringify(["ops", said[1], said[2], fits] satisfies Said);
    this.waiting.shift();
    return JSON.stringify(["broken", said[1], "The view is too large: one part of it is longer than 256 kB as text.", ""] satisfies Said);
  }
}
