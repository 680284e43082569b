import { useEffect, useRef, useState } from "react";
import { nameOfSession } from "../session/name";
import { oneLine } from "../text/visible";
import { useHouseState } from "../wire/useHouse";
import { useWords } from "../words/words";
import { openMatters, titleOfMatter, totalWaiting } from "./matters";

/** Says each new sheet once, politely: title, session, and how many wait. */
export const Announcer = () => {
  const state = useHouseState("asks", "consents", "askTotal", "consentTotal", "sessions");
  const words = useWords();
  const said = useRef(new Set<string>());
  const [line, setLine] = useState("");
  const { asks, consents, sessions } = state;
  useEffect(() => {
    const fresh = openMatters({ asks, consents }).filter((one) => !said.current.has(one.id));
    if (!fresh.length) return;
    for (const one of fresh) said.current.add(one.id);
    const last = fresh.at(-1)!;
    const say = last.kind === "ask" ? words.ask.announce : words.plugin.announce;
    setLine(say(titleOfMatter(last, words), oneLine(nameOfSession(last.kind === "ask" ? last.ask : last.consent, sessions, words), 60), totalWaiting(state)));
  }, [asks, consents, sessions, state, words]);
  return (
    <p className="vh" role="status" aria-live="polite" id="announcer">
      {line}
    </p>
  );
};
