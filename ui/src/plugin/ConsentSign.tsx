import { useId, useRef, useState } from "react";
import { Field, actsClass } from "../ask/Field";
import { useArming } from "../ask/useArming";
import { Icon } from "../theme/icons";
import type { Consent } from "../wire/shapes";
import { shortDigest } from "../words/times";
import { useWords } from "../words/words";
import type { ConsentSaid } from "./answer";

export interface ConsentSignProps {
  consent: Consent;
  /** The version that runs now and goes on if this one is declined. */
  running: string | null;
  person: string;
  /** Why nobody can consent yet, or null. Declining is always open. */
  hold: string | null;
  /** Nothing can be answered from here now: no connection, or it is not known what became of the last answer. */
  dead: string | null;
  busy: string | null;
  note: string;
  onNote: (text: string) => void;
  onAnswer: (said: ConsentSaid, feedback?: string) => void;
}

/** The place to sign for code: three worded fields, none of them first by habit; the widest needs a second press. */
export const ConsentSign = ({ consent, running, person, hold, dead, busy, note, onNote, onAnswer }: ConsentSignProps) => {
  const words = useWords();
  const place = useRef<HTMLElement>(null);
  const [noteId, holdId, sureId] = [useId(), useId(), useId()];
  const [open, setOpen] = useState<"" | "note" | "future">("");
  const { armed, round, handlers } = useArming(place, `${consent.run} ${consent.digest} ${open} ${dead ?? ""}`);
  const closed = dead !== null || busy !== null;
  const acts = actsClass(armed, closed, round);
  const held = closed || hold !== null;
  const sure = open === "future";

  return (
    <footer className="sign" ref={place}>
      <p className="sign-as">
        {words.ask.decideAs}
        <b>{person}</b>
        {consent.hasHostHalf ? words.plugin.decideBoth : words.plugin.decideOne}{" "}
        <span className="digest mono" title={words.ask.digestTitle(consent.digest)}>
          {shortDigest(consent.digest)}
        </span>
      </p>
      {open === "note" ? (
        <div className="note-open">
          <label htmlFor={noteId}>
            <b>{words.ask.noteLabel}</b> <span className="sub">{words.ask.noteHint}</span>
          </label>
          <textarea className="field" id={noteId} rows={3} maxLength={4000} value={note} onChange={(event) => onNote(event.target.value)} autoFocus />
          <div className={acts} data-armed={armed && !closed ? "" : undefined}>
            <button type="button" className="act c-rest" onClick={() => setOpen("")}>
              <Icon name="undo" />
              <b>{words.ask.back}</b>
              <em>{words.ask.backHint}</em>
            </button>
            <Field hue="refuse" icon="cross" word={words.plugin.declineNote} latin="non placet" closed={closed} handlers={handlers("note", () => onAnswer("declined", note.trim() || undefined))} />
          </div>
        </div>
      ) : (
        <>
          <div className={`${acts} three`} data-armed={armed && !closed ? "" : undefined}>
            <Field hue="refuse" icon="cross" word={words.plugin.decline} why={running ? words.plugin.declineWhyRuns(running) : words.plugin.declineWhy} closed={closed} handlers={handlers("decline", () => onAnswer("declined"))} />
            <Field
              hue="allow"
              icon="pen"
              word={words.plugin.field.package!}
              why={words.plugin.thisWhy(consent.package)}
              closed={held}
              describedBy={hold === null ? undefined : holdId}
              handlers={handlers("package", () => onAnswer("package"))}
            />
            <Field
              hue="wait"
              icon="repeat"
              word={words.plugin.field.future!}
              why={sure ? words.plugin.futureAgain : words.plugin.futureWhy}
              closed={held}
              describedBy={hold !== null ? holdId : sure ? sureId : undefined}
              handlers={handlers(`future ${open}`, () => (sure ? onAnswer("future") : setOpen("future")))}
            />
          </div>
          {hold !== null && !closed && (
            <p className="hold" id={holdId}>
              <Icon name="wait" />
              <span>{hold}</span>
            </p>
          )}
          {sure && !closed && (
            <p className="hold" id={sureId} role="status">
              <Icon name="alert" />
              <span>
                {words.plugin.futureSure}{" "}
                <button type="button" className="link" onClick={() => setOpen("")}>
                  {words.ask.back}
                </button>
              </span>
            </p>
          )}
          {!sure && !closed && (
            <div className="sign-more">
              <button type="button" className="link" onClick={() => setOpen("note")}>
                {words.plugin.declineWithNote}
              </button>
              <span className="sub no-narrow">{words.plugin.none}</span>
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
