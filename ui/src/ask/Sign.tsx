import { type RefObject, useId, useRef, useState } from "react";
import { Icon } from "../theme/icons";
import type { AskView } from "../wire/shapes";
import { shortDigest } from "../words/times";
import { useWords } from "../words/words";
import type { PersonOutcome } from "./answering";
import { Field, actsClass } from "./Field";
import { useArming } from "./useArming";

export interface SignProps {
  ask: AskView;
  person: string;
  /** Why Allow once is not open yet, or null. */
  hold: string | null;
  /** Nothing can be answered from here now: no connection, or an answer is on its way. */
  dead: string | null;
  busy: string | null;
  note: string;
  onNote: (text: string) => void;
  onAnswer: (outcome: PersonOutcome, options: { feedback?: string; stop?: boolean }) => void;
}

/** The place to sign: two equal fields, none of them first by habit, and a line that is drawn while they arm. */
export const Sign = ({ ask, person, hold, dead, busy, note, onNote, onAnswer }: SignProps) => {
  const words = useWords();
  const place = useRef<HTMLElement>(null);
  const holdId = useId();
  const noteId = useId();
  const [writing, setWriting] = useState(false);
  const [stop, setStop] = useState(false);
  const { armed, round, handlers } = useArming(place, `${ask.id} ${ask.digest} ${writing} ${dead ?? ""}`);
  const closed = dead !== null || busy !== null;
  const acts = actsClass(armed, closed, round);
  const noted = () => onAnswer("rejected", { feedback: note.trim() || undefined, stop });

  return (
    <footer className="sign" ref={place as RefObject<HTMLElement>}>
      <p className="sign-as">
        {words.ask.decideAs}
        <b>{person}</b>
        {words.ask.decideAbout}{" "}
        <span className="digest mono" title={words.ask.digestTitle(ask.digest)}>
          {shortDigest(ask.digest)}
        </span>
      </p>
      {writing ? (
        <div className="note-open">
          <label htmlFor={noteId}>
            <b>{words.ask.noteLabel}</b> <span className="sub">{words.ask.noteHint}</span>
          </label>
          <textarea className="field" id={noteId} rows={3} maxLength={4000} value={note} onChange={(event) => onNote(event.target.value)} autoFocus />
          <label className="chk">
            <input type="checkbox" checked={stop} onChange={(event) => setStop(event.target.checked)} /> {words.ask.noteStop}
          </label>
          <div className={acts} data-armed={armed && !closed ? "" : undefined}>
            <button type="button" className="act c-rest" onClick={() => setWriting(false)}>
              <Icon name="undo" />
              <b>{words.ask.back}</b>
              <em>{words.ask.backHint}</em>
            </button>
            <Field hue="refuse" icon="cross" word={words.ask.rejectNote} latin="non placet" closed={closed} handlers={handlers("note", noted)} />
          </div>
        </div>
      ) : (
        <>
          <div className={acts} data-armed={armed && !closed ? "" : undefined}>
            <Field hue="refuse" icon="cross" word={words.ask.reject} latin="non placet" closed={closed} handlers={handlers("reject", () => onAnswer("rejected", {}))} />
            <Field
              hue="allow"
              icon="pen"
              word={words.ask.allowOnce}
              latin="placet"
              closed={closed || hold !== null}
              describedBy={hold === null ? undefined : holdId}
              handlers={handlers("allow", () => onAnswer("allowed-once", {}))}
            />
          </div>
          {hold !== null && dead === null && busy === null && (
            <p className="hold" id={holdId}>
              <Icon name="wait" />
              <span>{hold}</span>
            </p>
          )}
          {dead === null && busy === null && (
            <div className="sign-more">
              <span className="ways">
                <button type="button" className="link" onClick={() => setWriting(true)}>
                  {words.ask.rejectWithNote}
                </button>
                <button type="button" className="link" title={words.ask.rejectAndStopHint} {...handlers("stop", () => onAnswer("rejected", { stop: true }))}>
                  {words.ask.rejectAndStop}
                </button>
              </span>
              <span className="sub no-narrow">{words.ask.neither}</span>
            </div>
          )}
        </>
      )}
      <p className="busy" role="status">
        {busy !== null && (
          <span className="st c-work">
            <Icon name="work" className="spin" />
            {busy}
          </span>
        )}
      </p>
      {dead !== null && <p className="sub safe">{dead}</p>}
    </footer>
  );
};
