import { type ReactNode, memo } from "react";
import { whoName } from "../ask/Seal";
import { Boundary } from "../shell/Boundary";
import { Ids } from "../text/Ids";
import { Prose } from "../text/Prose";
import { VisibleText } from "../text/Visible";
import { Icon, Status } from "../theme/icons";
import { Tool } from "../tool/Tool";
import { clockShort, span } from "../words/times";
import { useNow } from "../words/useNow";
import { type Words, useWords } from "../words/words";
import type { By, Entry, Talk } from "./fold";

type Speaker = "you" | "agent" | "sys" | "plugin";
interface Speech {
  key: string;
  speaker: Speaker;
  who: string;
  time: number;
  entries: Entry[];
}

/** What placet itself tells the agent about the rules of the session. */
const isContext = (entry: Entry): boolean => entry.kind === "user" && ((entry.source.kind === "system" && entry.source.name !== "jobs") || entry.source.name === "context");

const speakerOf = (entry: Entry, words: Words): [Speaker, string] => {
  switch (entry.kind) {
    case "tool":
      return entry.caller === null ? ["agent", words.said.agent] : ["plugin", words.said.plugin(entry.caller)];
    case "assistant":
      return ["agent", words.said.agent];
    case "user":
      return entry.source.kind === "user" ? ["you", words.said.you] : entry.source.kind === "plugin" && !isContext(entry) ? ["plugin", words.said.plugin(entry.source.name ?? "")] : ["sys", words.said.placet];
    default:
      return ["sys", words.said.placet];
  }
};

/** Entries gathered by who speaks, so that name and time stand once in the margin. */
export const speechesOf = (talk: Talk, words: Words): Speech[] => {
  const speeches: Speech[] = [];
  const later: Entry[] = [];
  for (const key of talk.order) {
    const entry = talk.entries[key]!;
    if (entry.kind === "user" && entry.queued) {
      later.push(entry);
      continue;
    }
    add(speeches, entry, words);
  }
  for (const entry of later) add(speeches, entry, words);
  return speeches;
};

const add = (speeches: Speech[], entry: Entry, words: Words): void => {
  const [speaker, who] = speakerOf(entry, words);
  const last = speeches.at(-1);
  if (last && last.speaker === speaker && last.who === who && speaker !== "you") last.entries.push(entry);
  else speeches.push({ key: entry.key, speaker, who, time: entry.time, entries: [entry] });
};

const byName = (by: By | null, words: Words) => (by ? whoName({ who: by }, words) : words.somebody);

const Line = ({ children }: { children: ReactNode }) => <p className="note-line">{children}</p>;

const Said = memo(({ entry, talk, onAsk }: { entry: Entry; talk: Pick<Talk, "open">; onAsk: (id: string) => void }) => {
  const words = useWords();
  switch (entry.kind) {
    case "tool":
      return <Tool call={entry} open={talk.open} onAsk={onAsk} />;
    case "assistant":
      return (
        <>
          {entry.reasoning && (
            <details className="thoughts">
              <summary>{words.said.reasoning}</summary>
              <p className="told">
                <VisibleText text={entry.reasoning} />
              </p>
            </details>
          )}
          <Prose text={entry.text} />
          {entry.interrupted && <Line>{words.said.interruptedText}</Line>}
        </>
      );
    case "user":
      if (isContext(entry))
        return (
          <details className="thoughts">
            <summary>{words.said.context}</summary>
            <p className="told">
              <VisibleText text={entry.text} />
            </p>
          </details>
        );
      return (
        <>
          <p className={entry.queued ? "told waits" : "told"}>
            {entry.source.kind === "plugin" ? <Ids text={entry.text} /> : <VisibleText text={entry.text} />}
          </p>
          {entry.withdrawn ? <Line>{words.said.withdrawn}</Line> : entry.queued && <Line>{entry.queued === "next-step" ? words.said.queuedStep : words.said.queued}</Line>}
        </>
      );
    case "notice":
      return (
        <p className={`note-line ${entry.level}`}>
          <Icon name={entry.level === "info" ? "eye" : "alert"} />
          <span className="told">
            <VisibleText text={entry.text} />
          </span>
        </p>
      );
    case "switch": {
      const say = { preset: words.said.presetNow, mode: words.said.modeNow, policy: words.said.policyNow, model: words.said.modelNow }[entry.what];
      return <Line>{say(entry.value, byName(entry.by, words))}</Line>;
    }
    case "model-failed":
      return (
        <p className="note-line warn">
          <Icon name="alert" />
          <span className="told">
            {words.said.modelFailed(entry.attempt)} <VisibleText text={entry.error} />
          </span>
        </p>
      );
    case "end":
      return (
        <>
          {entry.detail && entry.reason !== "aborted" && (
            <p className={`note-line ${entry.reason === "error" ? "error" : "warn"}`}>
              <Icon name="alert" />
              <span className="told">
                <VisibleText text={entry.detail} />
              </span>
            </p>
          )}
          <Line>{entry.reason === "aborted" && entry.by ? words.said.stoppedBy(byName(entry.by, words)) : (words.said.end[entry.reason] ?? entry.reason)}</Line>
        </>
      );
  }
});

const Block = memo(
  ({ speech, open, onAsk }: { speech: Speech; open: boolean; onAsk: (id: string) => void }) => {
    const words = useWords();
    return (
    <div className={`say ${speech.speaker}`}>
      <p className="who">
        {speech.speaker === "plugin" ? <Ids text={speech.who} /> : <VisibleText text={speech.who} />}
        <time dateTime={new Date(speech.time).toISOString()}>{clockShort(speech.time)}</time>
      </p>
      <div className="body">
        {speech.entries.map((entry) => (
          <Boundary key={entry.key} of={entry} says={words.said.notDrawn}>
            <Said entry={entry} talk={{ open }} onAsk={onAsk} />
          </Boundary>
        ))}
      </div>
    </div>
    );
  },
  (a, b) => a.open === b.open && a.onAsk === b.onAsk && a.speech.entries.length === b.speech.entries.length && a.speech.who === b.speech.who && a.speech.entries.every((entry, index) => entry === b.speech.entries[index]),
);

const Resting = ({ since }: { since: number }) => {
  const words = useWords();
  const now = useNow();
  return (
    <div className="say sys">
      <p className="who">{words.said.placet}</p>
      <div className="body">
        <p className="note-line rests">
          <Status hue="wait" icon="pen">
            {words.said.restUntil}
          </Status>
          <span className="num">{words.said.notWork(span(now - since))}</span>
        </p>
      </div>
    </div>
  );
};

export interface MinutesProps {
  talk: Talk;
  /** What the model is saying right now, not yet in the log. */
  partial: { turn: number; step: number; text: string } | null;
  onAsk: (id: string) => void;
}

/** The conversation, kept like minutes: who and when in the margin. */
export const Minutes = ({ talk, partial, onAsk }: MinutesProps) => {
  const words = useWords();
  const speeches = speechesOf(talk, words);
  const speaking = partial && partial.text && !talk.entries[`assistant:${partial.turn}.${partial.step}`];
  const firstOpen = talk.openAsks[0];
  const waitingCall = firstOpen ? talk.entries[talk.asks[firstOpen] ?? ""] : undefined;
  const since = waitingCall?.kind === "tool" ? waitingCall.asks.find((ask) => ask.id === firstOpen)?.time : undefined;
  const busy = talk.open && since === undefined && !speaking && !Object.values(talk.entries).some((entry) => entry.kind === "tool" && entry.turn === talk.turn && !entry.result);
  return (
    <>
      {speeches.map((speech) => (
        <Boundary key={speech.key} of={talk} says={words.said.notDrawn}>
          <Block speech={speech} open={talk.open} onAsk={onAsk} />
        </Boundary>
      ))}
      {speaking && (
        <div className="say agent">
          <p className="who">{words.said.agent}</p>
          <div className="body" data-streaming="">
            <Prose text={partial.text} tail={<span className="caret" />} />
          </div>
        </div>
      )}
      {busy && (
        <div className="say sys">
          <p className="who">{words.said.placet}</p>
          <div className="body">
            <p className="note-line">
              <Status hue="work" icon="work" spin>
                {words.said.thinking}
              </Status>
            </p>
          </div>
        </div>
      )}
      {since !== undefined && <Resting since={since} />}
    </>
  );
};
