import { useEffect, useMemo, useRef, useState } from "react";
import type { AskView } from "../wire/shapes";
import { useHouse, useHouseState } from "../wire/useHouse";
import { useWords } from "../words/words";
import { nameOfSession } from "../session/name";
import { Ask } from "./Ask";
import { noAnswer } from "./answering";

/** Open asks, oldest first. */
export const openAsks = (asks: Record<string, AskView>, session?: string): AskView[] =>
  Object.values(asks)
    .filter((ask) => ask.state === "open" && (session === undefined || ask.session === session))
    .sort((a, b) => a.askedAt - b.askedAt || (a.id < b.id ? -1 : 1));

interface DeskProps {
  /** Only asks of this session, or all where it is not given. */
  session?: string;
  chosen: string | null;
  onChoose: (id: string | null) => void;
  onSession?: (id: string) => void;
  /** How many there are in the store, where more than what is loaded. */
  total?: number;
}

const REST = 1500;
/** Where the sheet covers the conversation, it leaves after this; what became of it stands in the tool card. */
const REST_OVER = 5000;
const covers = (): boolean => matchMedia("(max-width: 64rem)").matches;

/** Which sheet lies on the desk: the chosen one, and after it was settled the next that comes, never before the person could read what became of it. */
export const useDesk = ({ session, chosen, onChoose }: Pick<DeskProps, "session" | "chosen" | "onChoose">) => {
  const { asks, answers } = useHouseState();
  const open = useMemo(() => openAsks(asks, session), [asks, session]);
  const current = (chosen && asks[chosen]) || null;
  const settledAt = useRef(0);

  useEffect(() => {
    if (current?.state === "decided") settledAt.current ||= Date.now();
    else settledAt.current = 0;
  }, [current?.state, current?.id]);

  useEffect(() => {
    const first = open[0];
    if (!first) {
      if (current?.state !== "decided" || !covers() || (answers[current.id] ?? noAnswer).state === "lost") return;
      const timer = setTimeout(() => onChoose(null), REST_OVER);
      return () => clearTimeout(timer);
    }
    if (!current || (session !== undefined && current.session !== session)) return onChoose(first.id);
    if (current.state !== "decided") return;
    if ((answers[current.id] ?? noAnswer).state === "lost") return;
    const timer = setTimeout(() => onChoose(first.id), Math.max(0, settledAt.current + REST - Date.now()));
    return () => clearTimeout(timer);
  }, [open, current, answers, session, onChoose]);

  return { open, current: current && (session === undefined || current.session === session) ? current : null };
};

export const Desk = (props: DeskProps) => {
  const { onChoose, onSession } = props;
  const house = useHouse();
  const { answers, notes, connection, config, views, sessions } = useHouseState();
  const words = useWords();
  const { open, current } = useDesk(props);
  const [, redraw] = useState(0);
  useEffect(() => redraw((n) => n + 1), [current?.id]);
  if (!current) return null;

  const at = open.findIndex((ask) => ask.id === current.id);
  const total = Math.max(props.total ?? 0, open.length);
  const before = at > 0 ? open[at - 1] : undefined;
  const behind = at >= 0 ? open[at + 1] : open[0];
  const call = views[current.session]?.talk.entries[views[current.session]?.talk.asks[current.id] ?? ""];
  const ran = call?.kind === "tool" && call.started !== null;
  const after = (
    <>
      <span className="sub">{current.decision?.outcome === "allowed-once" ? words.ask.usedUp : ran ? "" : words.ask.nothingRan}</span>
      {at < 0 && behind ? (
        <button type="button" className="link" onClick={() => onChoose(behind.id)}>
          {words.ask.nextAsk(1, total)}
        </button>
      ) : (
        at < 0 && (
          <button type="button" className="link" onClick={() => onChoose(null)}>
            {words.ask.close}
          </button>
        )
      )}
    </>
  );
  return (
    <div className={open.length > 1 ? "stack fill" : "stack fill single"}>
      <Ask
        key={current.id}
        ask={current}
        answering={answers[current.id] ?? noAnswer}
        connection={connection}
        sessionName={nameOfSession(current, sessions, words)}
        person={config?.person.name ?? ""}
        home={config?.home ?? ""}
        queue={at < 0 ? null : { at: at + 1, total, previous: before && (() => onChoose(before.id)), next: behind && (() => onChoose(behind.id)) }}
        note={notes[current.id] ?? ""}
        onNote={(text) => house.setNote(current.id, text)}
        onAnswer={(outcome, options) => void house.answer(current.id, outcome, options)}
        onAgain={() => void house.again(current.id)}
        onRetry={() => house.retry()}
        onSession={onSession && (() => onSession(current.session))}
        after={after}
      />
    </div>
  );
};
