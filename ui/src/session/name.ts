import { oneLine } from "../text/visible";
import type { AskView, Summary } from "../wire/shapes";
import type { Words } from "../words/words";

const tail = (path: string) => path.split("/").filter(Boolean).at(-1) ?? path;

/** A session's title, or a name made of its folder. */
export const titleOfSession = (session: Pick<Summary, "title" | "cwd">, words: Words): string =>
  session.title ? oneLine(session.title, 80) : words.shell.untitled(oneLine(tail(session.cwd), 40));

/** What an ask's session is called. */
export const nameOfSession = (ask: AskView, sessions: Summary[] | null, words: Words): string => {
  const known = sessions?.find((one) => one.id === ask.session);
  return ask.sessionTitle ?? (known ? titleOfSession(known, words) : ask.session);
};
