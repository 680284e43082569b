/**
 * Stands between a half and the page, in a worker that no plugin code runs in: counts, batches, measures, and cuts.
 *
 * The half's worker can do nothing to it but send messages; whatever is not a short text ends the half.
 */
import { type GuardSaid, type GuardTold, bounds } from "../wire";

interface Scope {
  onmessage: ((event: MessageEvent) => void) | null;
}

const begin = (runtime: string, port: MessagePort): void => {
  const address = URL.createObjectURL(new Blob([runtime], { type: "text/javascript" }));
  const worker = new Worker(address);
  const say = (said: GuardSaid): void => port.postMessage(said);

  let held: string[] = [];
  let heldSize = 0;
  let credit = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let due = 0;
  let count = 0;
  let alive = false;
  let cut = false;

  let token = "";
  let askedAt = 0;
  let missed = 0;
  let busy = 0;
  let lookedAt = performance.now();

  const end = (why: string): void => {
    if (cut) return;
    cut = true;
    worker.terminate();
    clearInterval(looking);
    clearTimeout(timer);
    held = [];
    say({ kind: "cut", why });
  };

  const send = (): void => {
    timer = undefined;
    if (cut || !credit || held.length === 0) return;
    credit = false;
    due = Math.max(due, performance.now() - bounds.ahead * bounds.batch) + bounds.batch;
    const items = held;
    held = [];
    heldSize = 0;
    say({ kind: "batch", items });
  };
  const soon = (): void => {
    if (timer !== undefined || !credit || cut) return;
    const wait = due - performance.now();
    if (wait <= 0) send();
    else timer = setTimeout(send, wait);
  };

  // A look that comes late says that the machine is busy, not that the half is: it counts for nothing.
  const looking = setInterval(() => {
    const now = performance.now();
    const late = now - lookedAt > 1.5 * bounds.look;
    lookedAt = now;
    count = 0;
    if (!alive) return;
    if (token) {
      if (!late) missed += 1;
      if (missed >= bounds.missed) end("loop");
      return;
    }
    token = String(Math.random());
    askedAt = now;
    missed = 0;
    worker.postMessage(`ping ${token}`);
  }, bounds.look);

  worker.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (cut) return;
    if (typeof data !== "string") return end("junk");
    if (token && data === `pong ${token}`) {
      token = "";
      busy = busy * 0.8 + (performance.now() - askedAt) * 0.2;
      return;
    }
    count += 1;
    if (count > bounds.rate) return end("flood");
    if (data.length > bounds.message) return end("too-long");
    if (!alive) {
      alive = true;
      URL.revokeObjectURL(address);
    }
    held.push(data);
    heldSize += data.length;
    if (heldSize > bounds.held || held.length > bounds.heldMessages) return end("flood");
    soon();
  };
  worker.onmessageerror = () => end("junk");
  worker.onerror = (event) => {
    event.preventDefault();
    if (!alive) end("broken-runtime");
  };

  port.onmessage = ({ data }: MessageEvent<GuardTold>) => {
    switch (data.kind) {
      case "tell":
        return worker.postMessage(data.text);
      case "taken":
        credit = true;
        worker.postMessage("go");
        return soon();
      case "beat":
        return say({ kind: "beat", token: data.token, busy: Math.round(busy) });
    }
  };
};

const scope = globalThis as unknown as Scope;
scope.onmessage = ({ data, ports }) => {
  scope.onmessage = null;
  const port = ports[0];
  if (port) begin(String((data as { runtime: unknown }).runtime), port);
};
