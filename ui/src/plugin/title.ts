import type { Consent } from "../wire/shapes";
import type { Words } from "../words/words";

/** The title of a request for consent: a question in placet's own voice. Never a word of the agent's. */
export const consentTitle = (consent: Pick<Consent, "mode">, words: Words): string => (consent.mode === "update" ? words.plugin.titleUpdate : words.plugin.title);
