import { type Client, NotPlacet, Refused } from "./client";
import type { Delta, LogEvent } from "./shapes";
import { FrameReader } from "./sse";

export type Connection =
  | { state: "connecting"; since: number }
  | { state: "up"; since: number }
  | { state: "down"; since: number; retryAt: number }
  | { state: "impostor"; since: number }
  | { state: "unlinked"; since: number };

export type News = { kind: "log"; event: LogEvent } | { kind: "delta"; delta: Delta } | { kind: "connection"; connection: Connection } | { kind: "reset" };
type Message = News | { kind: "who" } | { kind: "retry" };

const SILENCE = 40_000;
const waits = [500, 1000, 2000, 4000, 8000, 15_000];

/**
 * One event stream for all tabs of this browser: the tab that holds the lock reads it and tells the others.
 *
 * When the leading tab goes away another takes over, from the cursor that it has seen last.
 */
export class SharedStream {
  private readonly channel = new BroadcastChannel("placet");
  private readonly closing = new AbortController();
  private leading = false;
  private cursor: string | null = null;
  private connection: Connection = { state: "connecting", since: Date.now() };
  private wake: (() => void) | null = null;
  private failures = 0;

  constructor(
    private readonly client: Client,
    private readonly tell: (news: News) => void,
  ) {}

  /** Starts to follow; `cursor` is where the first snapshot was taken. */
  start(cursor: string | null): void {
    this.cursor = cursor;
    this.channel.onmessage = (message: MessageEvent<Message>) => this.hear(message.data);
    this.channel.postMessage({ kind: "who" } satisfies Message);
    void navigator.locks.request("placet.stream", { signal: this.closing.signal }, () => this.lead()).catch(() => undefined);
    document.addEventListener("visibilitychange", this.onVisible);
  }

  stop(): void {
    this.closing.abort();
    document.removeEventListener("visibilitychange", this.onVisible);
    this.wake?.();
    this.channel.close();
  }

  /** Tries again now instead of waiting on. */
  retry(): void {
    if (this.leading) this.wake?.();
    else this.channel.postMessage({ kind: "retry" } satisfies Message);
  }

  private readonly onVisible = () => {
    if (document.visibilityState === "visible" && this.connection.state === "down") this.retry();
  };

  private hear(message: Message): void {
    switch (message.kind) {
      case "who":
        if (this.leading) this.channel.postMessage({ kind: "connection", connection: this.connection } satisfies Message);
        return;
      case "retry":
        if (this.leading) this.wake?.();
        return;
      case "log":
        this.cursor = message.event.cursor;
        break;
      case "connection":
        this.connection = message.connection;
        if (message.connection.state !== "up") this.client.doubt();
        break;
      default:
        break;
    }
    this.tell(message);
  }

  private say(news: News): void {
    if (this.closing.signal.aborted) return;
    if (news.kind === "connection") this.connection = news.connection;
    this.channel.postMessage(news);
    this.tell(news);
  }

  private async lead(): Promise<void> {
    this.leading = true;
    let since = this.connection.state === "down" ? this.connection.since : 0;
    while (!this.closing.signal.aborted) {
      const attempt = new AbortController();
      const stopped = AbortSignal.any([attempt.signal, this.closing.signal]);
      try {
        await this.read(attempt, stopped, () => {
          since = 0;
          this.failures = 0;
        });
      } catch (error) {
        if (this.closing.signal.aborted) return;
        if (error instanceof NotPlacet) this.say({ kind: "connection", connection: { state: "impostor", since: Date.now() } });
        else if (error instanceof Refused && (error.code === "not-linked" || error.code === "bad-signature")) {
          this.say({ kind: "connection", connection: { state: "unlinked", since: Date.now() } });
          return;
        } else if (error instanceof Refused && error.status === 410) this.say({ kind: "reset" });
      }
      this.client.doubt();
      since ||= Date.now();
      const wait = waits[Math.min(this.failures, waits.length - 1)]!;
      this.failures += 1;
      if (this.connection.state !== "impostor") this.say({ kind: "connection", connection: { state: "down", since, retryAt: Date.now() + wait } });
      await this.pause(wait);
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async read(attempt: AbortController, signal: AbortSignal, opened: () => void): Promise<void> {
    await this.client.prove(signal);
    const path = this.cursor === null ? "/api/stream" : `/api/stream?after=${encodeURIComponent(this.cursor)}`;
    const response = await this.client.send("GET", path, "", { signal, timeout: null });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const frames = new FrameReader();
    let silence = setTimeout(() => attempt.abort(), SILENCE);
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => attempt.abort(), SILENCE);
        for (const frame of frames.push(value)) {
          if (frame.event === "hello") {
            opened();
            this.say({ kind: "connection", connection: { state: "up", since: Date.now() } });
          } else if (frame.event === "log") {
            const event = JSON.parse(frame.data) as LogEvent;
            this.cursor = event.cursor;
            this.say({ kind: "log", event });
          } else if (frame.event === "delta") this.say({ kind: "delta", delta: JSON.parse(frame.data) as Delta });
        }
      }
    } finally {
      clearTimeout(silence);
    }
  }
}
