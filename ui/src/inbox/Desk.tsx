import { useEffect, useMemo, useRef, useState } from "react";
import { Ask } from "../ask/Ask";
import { noAnswer } from "../ask/answering";
import { Consent } from "../plugin/Consent";
import { nameOfSession } from "../session/name";
import { Boundary } from "../shell/Boundary";
import { useHouse, useHouseState } from "../wire/useHouse";
import { useWords } from "../words/words";
import { type Matter, isOpen, matterOf, openMatters } from "./matters";

interface DeskProps {
  /** Only what waits in this session, or in all where it is not given. */
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

const useAnswering = (matter: Matter | null) => {
  const { answers, consentAnswers } = useHouseState("answers", "consentAnswers");
  if (!matter) return noAnswer;
  return (matter.kind === "ask" ? answers[matter.id] : consentAnswers[matter.id]) ?? noAnswer;
};

/** Which sheet lies on the desk: the chosen one, and after it was settled the next that comes, never before the person could read what became of it. */
export const useDesk = ({ session, chosen, onChoose }: Pick<DeskProps, "session" | "chosen" | "onChoose">) => {
  const house = useHouse();
  const { asks, consents, connection } = useHouseState("asks", "consents", "connection");
  const open = useMemo(() => openMatters({ asks, consents }, session), [asks, consents, session]);
  const current = matterOf({ asks, consents }, chosen);
  const lost = useAnswering(current).state === "lost";
  const settled = current !== null && !isOpen(current);
  const settledAt = useRef(0);
  const online = connection.state === "up";

  useEffect(() => {
    if (settled) settledAt.current ||= Date.now();
    else settledAt.current = 0;
  }, [settled, current?.id]);

  const bare = current?.kind === "consent" && current.consent.whole === null ? current.id : chosen?.startsWith("run-") && !current ? chosen : null;
  useEffect(() => {
    if (bare && online) void house.consents.read(bare).then((found) => found || onChoose(null));
  }, [house, bare, online, onChoose]);

  useEffect(() => {
    const first = open[0];
    if (!first) {
      if (!settled || !covers() || lost) return;
      const timer = setTimeout(() => onChoose(null), REST_OVER);
      return () => clearTimeout(timer);
    }
    if ((!current && bare === null) || (current && session !== undefined && current.session !== session)) return onChoose(first.id);
    if (!settled || lost) return;
    const timer = setTimeout(() => onChoose(first.id), Math.max(0, settledAt.current + REST - Date.now()));
    return () => clearTimeout(timer);
  }, [open, current, bare, settled, lost, session, onChoose]);

  return { open, current: current && (session === undefined || current.session === session) ? current : null };
};

/** The sheet that a person can answer, and what became of it when it was. */
export const Desk = (props: DeskProps) => {
  const { onChoose } = props;
  const house = useHouse();
  const words = useWords();
  const { open, current } = useDesk(props);
  const [, redraw] = useState(0);
  useEffect(() => redraw((n) => n + 1), [current?.id]);
  if (!current) return null;

  const at = open.findIndex((one) => one.id === current.id);
  const total = Math.max(props.total ?? 0, open.length);
  const before = at > 0 ? open[at - 1] : undefined;
  const behind = at >= 0 ? open[at + 1] : open[0];
  const queue = at < 0 ? null : { at: at + 1, total, previous: before && (() => onChoose(before.id)), next: behind && (() => onChoose(behind.id)) };
  const after = (
    <>
      {current.kind === "ask" && <Came matter={current} />}
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
      <Boundary key={current.id} of={current.kind === "ask" ? current.ask : current.consent} says={words.ask.notDrawn} onAgain={() => current.kind === "consent" && void house.consents.read(current.id)} around={(line) => <article className="ask no-sheet">{line}</article>}>
        <Sheet matter={current} queue={queue} after={after} onSession={props.onSession} />
      </Boundary>
    </div>
  );
};

/** What came of a settled ask, where that is not told by its call. */
const Came = ({ matter }: { matter: Matter & { kind: "ask" } }) => {
  const words = useWords();
  const { views } = useHouseState("views");
  const talk = views[matter.session]?.talk;
  const call = talk?.entries[talk.asks[matter.id] ?? ""];
  const used = matter.ask.decision?.outcome === "allowed-once";
  if (!used && call?.kind === "tool" && call.started !== null) return null;
  return <span className="sub">{used ? words.ask.usedUp : words.ask.nothingRan}</span>;
};

interface SheetProps {
  matter: Matter;
  queue: { at: number; total: number; previous?: () => void; next?: () => void } | null;
  after: React.ReactNode;
  onSession?: (id: string) => void;
}

const Sheet = ({ matter, queue, after, onSession }: SheetProps) => {
  const house = useHouse();
  const { answers, consentAnswers, notes, connection, config, sessions, plugins } = useHouseState("answers", "consentAnswers", "notes", "connection", "config", "sessions", "plugins");
  const words = useWords();
  const shared = {
    connection, queue, after,
    sessionName: nameOfSession(matter.kind === "ask" ? matter.ask : matter.consent, sessions, words),
    person: config?.person.name ?? "",
    home: config?.home ?? "",
    note: notes[matter.id] ?? "",
    onNote: (text: string) => house.setNote(matter.id, text),
    onRetry: () => house.retry(),
    onSession: onSession && (() => onSession(matter.session)),
  };
  if (matter.kind === "ask")
    return (
      <Ask
        {...shared}
        ask={matter.ask}
        answering={answers[matter.id] ?? noAnswer}
        onAnswer={(outcome, options) => void house.answer(matter.id, outcome, options)}
        onAgain={() => void house.again(matter.id)}
      />
    );
  return (
    <Consent
      {...shared}
      consent={matter.consent}
      plugin={plugins?.find((one) => one.plugin === matter.consent.plugin) ?? null}
      session={sessions?.find((one) => one.id === matter.session) ?? null}
      answering={consentAnswers[matter.id] ?? noAnswer}
      onAnswer={(said, feedback) => void house.consents.give(matter.id, said, feedback)}
      onAgain={() => void house.consents.again(matter.id)}
    />
  );
};
