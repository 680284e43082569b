import { useEffect, useRef } from "react";
import { openMatters } from "../inbox/matters";
import { nameOfSession } from "../session/name";
import { oneLine } from "../text/visible";
import { useHouseState } from "../wire/useHouse";
import { useWords } from "../words/words";

/** True where the browser lets the page tell; asks the person's browser once if it has not been asked. */
export const mayNotify = async (): Promise<boolean> => "Notification" in window && (await Notification.requestPermission()) === "granted";

/**
 * Tells the system of each sheet that begins to wait while nobody looks at the page.
 *
 * Only that something waits, and where: no command and no code, and nothing in it answers. It has the sheet's id, so that several tabs tell once.
 */
export const Notifier = ({ onOpen }: { onOpen: (session: string, id: string) => void }) => {
  const { asks, consents, consentTotal, sessions } = useHouseState("asks", "consents", "consentTotal", "sessions");
  const words = useWords();
  const known = useRef<Set<string> | null>(null);
  const read = consentTotal !== null;
  useEffect(() => {
    if (!read) return;
    const open = openMatters({ asks, consents });
    const fresh = open.filter((one) => known.current !== null && !known.current.has(one.id));
    known.current = new Set([...(known.current ?? []), ...open.map((one) => one.id)]);
    if (document.hasFocus() || !("Notification" in window) || Notification.permission !== "granted") return;
    for (const one of fresh) {
      const session = oneLine(nameOfSession(one.kind === "ask" ? one.ask : one.consent, sessions, words), 60);
      const told = new Notification(words.ask.notifyTitle, { body: words.ask.notifyBody(session), tag: one.id, icon: "/icon.svg" });
      told.onclick = () => {
        focus();
        onOpen(one.session, one.id);
        told.close();
      };
    }
  }, [read, asks, consents, sessions, words, onOpen]);
  return null;
};
