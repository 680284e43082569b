import type { Decision } from "../wire/shapes";

export type PersonOutcome = "allowed-once" | "rejected";

/** What became of a person's answer from this page, told only by the server. `Said` is what was pressed, `Past` what the log holds instead. */
export type Answering<Said extends string = PersonOutcome, Past = Decision> =
  | { state: "none" }
  | { state: "sending"; outcome: Said }
  | { state: "unknown"; outcome: Said }
  | { state: "not-recorded"; outcome: Said }
  | { state: "refused"; outcome: Said; why: string; stale: boolean }
  | { state: "lost"; outcome: Said; decision: Past }
  | { state: "settled" };

export const noAnswer: { state: "none" } = { state: "none" };
