import { useEffect, useRef, useState } from "react";
import { nameOfSession } from "../session/name";
import { oneLine } from "../text/visible";
import { useHouseState } from "../wire/useHouse";
import { useWords } from "../words/words";
import { openAsks } from "./Desk";
import { titleOf } from "./reading";

/** Says each new ask once, politely: title, session, and how many wait. */
export const Announcer = () => {
  const { asks, askTotal, sessions } = useHouseState();
  const words = useWords();
  const said = useRef(new Set<string>());
  const [line, setLine] = useState("");
  useEffect(() => {
    const fresh = openAsks(asks).filter((ask) => !said.current.has(ask.id));
    if (!fresh.length) return;
    for (const ask of fresh) said.current.add(ask.id);
    const last = fresh.at(-1)!;
    setLine(words.ask.announce(titleOf(last, words), oneLine(nameOfSession(last, sessions, words), 60), Math.max(askTotal, openAsks(asks).length)));
  }, [asks, askTotal, sessions, words]);
  return (
    <p className="vh" role="status" aria-live="polite" id="announcer">
      {line}
    </p>
  );
};
