import { titleOf } from "../ask/reading";
import { consentTitle } from "../plugin/title";
import type { AskView, Consent } from "../wire/shapes";
import type { HouseState } from "../wire/state";
import type { Words } from "../words/words";

/** Something that waits for a person's answer: an ask of a tool, or a request to let code into the page. */
export type Matter = { kind: "ask"; id: string; session: string; since: number; ask: AskView } | { kind: "consent"; id: string; session: string; since: number; consent: Consent };

type Known = Pick<HouseState, "asks" | "consents">;

export const matterOf = ({ asks, consents }: Known, id: string | null): Matter | null => {
  if (!id) return null;
  const ask = asks[id];
  if (ask) return { kind: "ask", id, session: ask.session, since: ask.askedAt, ask };
  const consent = consents[id];
  return consent ? { kind: "consent", id, session: consent.session, since: consent.requestedAt, consent } : null;
};

export const isOpen = (matter: Matter): boolean => (matter.kind === "ask" ? matter.ask : matter.consent).state === "open";

/** What waits, oldest first, in one session or in all. */
export const openMatters = (known: Known, session?: string): Matter[] =>
  [...Object.keys(known.asks), ...Object.keys(known.consents)]
    .map((id) => matterOf(known, id)!)
    .filter((matter) => isOpen(matter) && (session === undefined || matter.session === session))
    .sort((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1));

/** How many wait over all sessions: what the store says, and never less than what is on this page. */
export const totalWaiting = (state: Known & Pick<HouseState, "askTotal" | "consentTotal">): number => Math.max(state.askTotal + (state.consentTotal ?? 0), openMatters(state).length);

/** The question on its sheet. */
export const titleOfMatter = (matter: Matter, words: Words): string => (matter.kind === "ask" ? titleOf(matter.ask, words) : consentTitle(matter.consent, words));
