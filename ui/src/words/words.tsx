import { createContext, useContext } from "react";
import { de } from "./de";
import { en, type Words } from "./en";
import { zh } from "./zh";

export type { Words } from "./en";
export const languages: Record<string, Words> = { en, zh, de };

/** The language to speak: the one chosen, else the first of the browser's that there is, else English. */
export const wordsFor = (chosen: string | null, wanted: readonly string[]): Words =>
  languages[chosen ?? ""] ?? wanted.map((tag) => languages[tag.split("-")[0]!.toLowerCase()]).find(Boolean) ?? en;

const Spoken = createContext<Words>(en);
export const WordsProvider = Spoken.Provider;
export const useWords = (): Words => useContext(Spoken);
