import type { GuardSaid, GuardTold, Told } from "./wire";

/** Milliseconds between two looks of the page at the guards, and how many looks a guard may leave unanswered. */
export const BEAT = 250;
const MISSED = 4;

export interface CellListener {
  /** A batch; `taken` has to be called when it has been dealt with, or no other comes. */
  heard(items: readonly unknown[]): void;
  /** The guard has ended the half, or does not answer any more (`silent`). Nothing comes after it. */
  ended(why: string): void;
}

let programs: Promise<{ guard: string; runtime: string }> | null = null;
const loadPrograms = (): Promise<{ guard: string; runtime: string }> => {
  programs ??= Promise.all([import("virtual:half/guard"), import("virtual:half/runtime")]).then(([guard, runtime]) => ({ guard: guard.default, runtime: runtime.default }));
  programs.catch(() => {
    programs = null;
  });
  return programs;
};

/** A hidden frame of no origin, the guard in it, and the worker behind the guard. Removing the frame ends all three. */
export class Cell {
  private readonly frame = document.createElement("iframe");
  private readonly channel = new MessageChannel();
  private token = 0;
  private waits = false;
  private missed = 0;
  private over = false;
  /** The guard has spoken; before that it may only be slow to start, which has a bound of its own. */
  private awake = false;
  /** How late the half answers its guard, in milliseconds: a measure of who keeps the machine busy. */
  busy = 0;

  constructor(private listener: CellListener) {
    const { frame } = this;
    frame.setAttribute("sandbox", "allow-scripts");
    frame.hidden = true;
    frame.inert = true;
    frame.tabIndex = -1;
    frame.setAttribute("aria-hidden", "true");
    frame.referrerPolicy = "no-referrer";
    frame.title = "placet half";
    this.channel.port1.onmessage = ({ data }: MessageEvent<GuardSaid>) => this.hear(data);
    void this.begin();
  }

  listen(listener: CellListener): void {
    this.listener = listener;
  }

  tell(told: Told): void {
    this.send({ kind: "tell", text: JSON.stringify(told) });
  }
  taken(): void {
    this.send({ kind: "taken" });
  }

  /** Looks whether the guard still answers; a look that came late counts for nothing. */
  look(late: boolean): void {
    if (!this.awake) return;
    if (this.waits) {
      if (!late) this.missed += 1;
      if (this.missed >= MISSED) this.close("silent");
      return;
    }
    this.waits = true;
    this.missed = 0;
    this.token += 1;
    this.send({ kind: "beat", token: this.token });
  }

  end(): void {
    this.over = true;
    this.channel.port1.close();
    this.frame.remove();
  }

  private async begin(): Promise<void> {
    const { frame } = this;
    try {
      const loaded = new Promise<void>((resolve) => frame.addEventListener("load", () => resolve(), { once: true }));
      frame.src = "/half-frame";
      document.body.append(frame);
      const [texts] = await Promise.all([loadPrograms(), loaded]);
      if (!this.over) frame.contentWindow?.postMessage(texts, "*", [this.channel.port2]);
    } catch {
      this.close("no-runtime");
    }
  }

  private send(told: GuardTold): void {
    if (!this.over) this.channel.port1.postMessage(told);
  }

  private close(why: string): void {
    if (this.over) return;
    this.end();
    this.listener.ended(why);
  }

  private hear(said: GuardSaid): void {
    if (this.over) return;
    this.awake = true;
    switch (said.kind) {
      case "batch":
        return this.listener.heard(said.items);
      case "cut":
        return this.close(said.why);
      case "beat":
        if (said.token !== this.token) return;
        this.waits = false;
        this.busy = said.busy;
    }
  }
}
