import type { Decision } from "../wire/shapes";

export type PersonOutcome = "allowed-once" | "rejected";

/** What became of a person's answer from this page, told only by the server. */
export type Answering =
  | { state: "none" }
  | { state: "sending"; outcome: PersonOutcome }
  | { state: "unknown"; outcome: PersonOutcome }
  | { state: "not-recorded"; outcome: PersonOutcome }
  | { state: "refused"; outcome: PersonOutcome; why: string; stale: boolean }
  | { state: "lost"; outcome: PersonOutcome; decision: Decision }
  | { state: "settled" };

export const noAnswer: Answering = { state: "none" };
