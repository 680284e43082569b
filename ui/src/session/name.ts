import { oneLine } from "../text/visible";
import type { SessionName, Summary } from "../wire/shapes";
import type { Words } from "../words/words";

const tail = (path: string) => path.split("/").filter(Boolean).at(-1) ?? path;

/** How a session is called everywhere on the page. The server names it; the page only puts it into its language. */
export const titleOf = (name: SessionName, words: Words): string => (name.origin === "folder" ? words.shell.untitled(oneLine(name.text, 40)) : oneLine(name.text, 80));

export const titleOfSession = (session: Pick<Summary, "name">, words: Words): string => titleOf(session.name, words);

/** What a session is called for somebody who looks at it closely: whole, with its folder, and whose words the name is. */
export const longTitle = (session: Pick<Summary, "name" | "cwd">, words: Words): string =>
  [titleOfSession(session, words), session.name.origin === "message" ? words.shell.namedAfterMessage : "", oneLine(session.cwd, 300)].filter(Boolean).join("\n");

/** What the session of something that waits is called: as the list of sessions has it now, else as it was told. */
export const nameOfSession = (ask: { session: string; sessionName: SessionName }, sessions: Summary[] | null, words: Words): string => titleOf(sessions?.find((one) => one.id === ask.session)?.name ?? ask.sessionName, words);

/** What a session is called of which only the folder is known yet. */
export const folderName = (cwd: string): SessionName => ({ text: tail(cwd), origin: "folder" });
