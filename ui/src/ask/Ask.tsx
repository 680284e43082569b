import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { plain } from "../text/escaped";
import { VisibleText } from "../text/Visible";
import { Icon, Status } from "../theme/icons";
import type { AskView } from "../wire/shapes";
import type { Connection } from "../wire/stream";
import { type Words, useWords } from "../words/words";
import type { Answering, PersonOutcome } from "./answering";
import { Articles } from "./Articles";
import { AnswerBanner, Banner, OfflineBanner } from "./Banners";
import { useDigest } from "./digest";
import { Head, type Queue } from "./Head";
import { ownerOf } from "../tool/owner";
import { useNarrow, useReach } from "./reach";
import { readingOf, seenLine, titleOf } from "./reading";
import { Seal, channelName, hueOf, iconOf, whoName } from "./Seal";
import { Sign } from "./Sign";

export interface AskProps {
  ask: AskView;
  answering: Answering;
  connection: Connection;
  person: string;
  home: string;
  queue: Queue | null;
  heading?: "h2" | "h3";
  note: string;
  onNote: (text: string) => void;
  onAnswer: (outcome: PersonOutcome, options: { feedback?: string; stop?: boolean }) => void;
  onAgain: () => void;
  onRetry: () => void;
  /** How the session is called. */
  sessionName: string;
  onSession?: () => void;
  /** What came of a settled ask, and the way to the next one. */
  after?: ReactNode;
}

const fieldWord = (outcome: PersonOutcome, words: Words) => (outcome === "allowed-once" ? words.ask.allowOnce : words.ask.reject);

/** One ask as a sheet: whole subject, five articles, a place to sign. It never takes the focus and has no default. */
export const Ask = (props: AskProps) => {
  const { ask, answering, connection, queue, onNote, note } = props;
  const words = useWords();
  const owner = ownerOf(plain(ask.subject.tool));
  const titleId = useId();
  const sheet = useRef<HTMLElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const reading = readingOf(ask);
  const reach = useReach(body, `${ask.id} ${ask.digest}`);
  const match = useDigest(ask.subject, ask.digest);
  const narrow = useNarrow();
  const Heading = props.heading ?? "h2";
  const decision = ask.decision;
  const settled = decision !== null;
  const offline = connection.state !== "up";
  const [inside, setInside] = useState(false);

  useEffect(() => {
    if (settled && inside && document.activeElement === document.body) sheet.current?.focus({ preventScroll: true });
  }, [settled, inside]);

  const toEnd = () => {
    const regions = body.current?.querySelectorAll<HTMLElement>("[data-signed]");
    for (const region of regions ?? []) region.scrollTop = region.scrollHeight;
    regions?.[0]?.lastElementChild?.scrollIntoView({ block: "nearest" });
    regions?.[0]?.focus({ preventScroll: true });
  };

  const hold = (() => {
    if (reading.empty) return words.ask.empty;
    if (match === "different") return words.ask.staleText;
    if (match === "checking") return words.ask.holdEnd;
    if (!reach.text) return reading.shown.lineCount > 1 ? words.ask.holdLine(reading.shown.lineCount) : words.ask.holdEnd;
    if (narrow && !reach.sheet) return words.ask.holdSheet;
    return null;
  })();
  const busy = answering.state === "sending" ? (answering.outcome === "allowed-once" ? words.ask.sendingAllow : words.ask.sendingReject) : null;
  const unknown = answering.state === "unknown";

  return (
    <article
      className={settled || offline ? "ask dim" : "ask"}
      aria-labelledby={titleId}
      ref={sheet}
      tabIndex={-1}
      data-ask={ask.id}
      data-more={reach.more ? "" : undefined}
      onFocus={() => setInside(true)}
      onBlur={(event) => event.relatedTarget && !event.currentTarget.contains(event.relatedTarget) && setInside(false)}
    >
      <Head queue={queue} since={ask.askedAt} until={decision?.time ?? null}>
        {decision ? (
          <Status hue={hueOf(decision.outcome)} icon={iconOf(decision.outcome)}>
            {words.outcome[decision.outcome] ?? decision.outcome}
          </Status>
        ) : offline ? (
          <Status hue="rest" icon="off">
            {words.ask.notConnected}
          </Status>
        ) : (
          <Status hue="wait" icon={ask.rearmed ? "repeat" : "wait"}>
            {ask.rearmed ? words.ask.waitingAgain : words.ask.waiting}
          </Status>
        )}
      </Head>
      {!settled && offline && <OfflineBanner connection={connection} onRetry={props.onRetry} />}
      {(!settled || answering.state === "lost") && (
        <AnswerBanner
          answering={answering}
          onAgain={props.onAgain}
          offline={offline}
          word={(outcome) => fieldWord(outcome, words)}
          lost={(one) => words.ask.lostText(whoName(one, words), words.outcome[one.outcome] ?? one.outcome, channelName(one.channel, words))}
        />
      )}
      {!settled && ask.rearmed && (
        <Banner hue="work" icon="repeat" title={words.ask.restartedTitle}>
          {words.ask.restartedText}
        </Banner>
      )}
      {!settled && ask.earlierRun && (
        <Banner hue="wait" icon="alert" title={words.ask.earlierRunTitle}>
          {words.ask.earlierRunText}
        </Banner>
      )}
      <div className="ask-body" ref={body} tabIndex={reach.more ? 0 : undefined}>
        <Heading className="ask-title" id={titleId}>
          {titleOf(ask, words)}
        </Heading>
        <p className="ask-from">
          {words.ask.askedBy}
          <b className="by-agent" title={words.ask.modelName}>
            <VisibleText text={plain(ask.subject.agent)} />
          </b>
          {words.ask.inSession}
          {props.onSession ? (
            <button type="button" className="link" onClick={props.onSession}>
              <VisibleText text={props.sessionName} />
            </button>
          ) : (
            <b>
              <VisibleText text={props.sessionName} />
            </b>
          )}{" "}
          · {words.ask.tool}
          <code>
            <VisibleText text={plain(ask.subject.tool)} reading="code" />
          </code>
          {owner && <> ({words.tool.ofPlugin(owner)})</>}
        </p>
        <Articles ask={ask} reading={reading} reach={reach} home={props.home} onEnd={toEnd} />
      </div>
      <button type="button" className="more-cue" tabIndex={-1} onClick={() => body.current?.scrollBy({ top: body.current.clientHeight * 0.8 })}>
        <Icon name="down" />
        <span>{reading.long && !reach.text && reading.shown.lineCount > 1 ? words.ask.linesSeenMore(reading.shown.lineCount, seenLine(reading, reach)) : words.ask.moreBelow}</span>
      </button>
      {decision ? (
        <footer className="sign">
          <Seal decision={decision}>{props.after}</Seal>
        </footer>
      ) : (
        <Sign
          ask={ask}
          person={props.person}
          hold={hold}
          dead={offline ? words.ask.offlineSafe : unknown ? "" : null}
          busy={busy}
          note={note}
          onNote={onNote}
          onAnswer={props.onAnswer}
        />
      )}
    </article>
  );
};
