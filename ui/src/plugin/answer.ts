import type { Answering } from "../ask/answering";
import type { ConsentDecision, Width } from "../wire/shapes";
import type { Words } from "../words/words";

/** What a person can say to a request for consent: how wide the yes is, or no. */
export type ConsentSaid = Width | "declined";
export type ConsentAnswering = Answering<ConsentSaid, ConsentDecision | null>;

/** What a decision is called: the words of the field that was pressed, or that nobody pressed any. */
export const decisionWord = (decision: ConsentDecision, words: Words): string =>
  decision.outcome === "consented" ? words.plugin.field[decision.width ?? "package"]! : decision.outcome === "declined" ? words.plugin.declined : words.outcome.cancelled!;
