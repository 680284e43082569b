import { useState } from "react";
import { plain } from "../text/escaped";
import { Code, VisibleText } from "../text/Visible";
import { type Visible, visible } from "../text/visible";
import { Icon } from "../theme/icons";
import type { AskView } from "../wire/shapes";
import { homely } from "../words/folder";
import { clock } from "../words/times";
import { useWords } from "../words/words";
import { Fields, Sent, mainName } from "./Fields";
import { Ladder } from "./Ladder";
import { Notes } from "./Notes";
import type { Reach } from "./reach";
import { type AskReading, seenLine } from "./reading";

export interface ArticlesProps {
  ask: AskView;
  reading: AskReading;
  reach: Reach;
  home: string;
  onEnd: () => void;
}

const Copy = ({ text }: { text: string }) => {
  const words = useWords();
  const [done, setDone] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setDone(true), () => setDone(false));
  return (
    <button type="button" className="link" onClick={copy}>
      {done ? words.ask.copied : words.ask.copy}
    </button>
  );
};

const What = ({ ask, reading, reach, onEnd }: ArticlesProps) => {
  const words = useWords();
  const { shown, call, form, long } = reading;
  const seen = seenLine(reading, reach);
  const name = form ? mainName(form, words) : call.command === null ? words.ask.arguments : words.ask.command;
  const single = shown.lineCount === 1;
  const hides = (one: Visible) => one.hiddenCount > 0 || one.alike.length > 0;
  // The target mode stands on the ladder; said twice it would only take room.
  const rest = call.rest.filter(([key, value]) => !(key === "sandbox_permissions" && value === ask.subject.toMode));
  return (
    <div className="art what">
      <dt>{words.ask.what}</dt>
      <dd>
        {call.command === null && !form && <p className="plain raw-note">{words.ask.rawArguments}</p>}
        {form && <Fields fields={form.fields} signed={form.main === null} />}
        {form?.main && <p className="plain main-name">{form.main.empty ? words.ask.newTextEmpty : name}</p>}
        {form && (form.main === null || form.main.empty) ? null : reading.empty ? (
          <p className="hold">
            <Icon name="alert" />
            <span>{words.ask.empty}</span>
          </p>
        ) : (
          <Code
            shown={shown}
            label={long && call.command !== null ? words.ask.commandLines(shown.lineCount) : name}
            tall={long}
            scrolls={long}
            flagged={new Set(reading.flags.map((flag) => flag.line))}
            signed
            signs={form?.main?.signs ?? null}
          />
        )}
        {long && (
          <div className={reach.text ? "reach done" : "reach"}>
            <i className="track" style={{ "--seen": reach.part } as React.CSSProperties} />
            <span>{reach.text ? words.ask.seenAll(shown.lineCount) : single ? words.ask.seenPart(Math.floor(reach.part * 100)) : words.ask.seen(shown.lineCount, seen)}</span>
            <button type="button" className="link" onClick={onEnd} disabled={reach.text}>
              {words.ask.toTheEnd}
            </button>
          </div>
        )}
        <p className="facts">
          {(!form || form.main) && (
            <span>
              {words.ask.facts(shown.lineCount, shown.characters)}
              {shown.bidi && `, ${words.ask.inRunOrder}`}
            </span>
          )}
          {![shown, ...(form?.fields.map((field) => field.shown) ?? [])].some(hides) && <span>{words.ask.noHidden}</span>}
          <span className="end">
            <Copy text={reading.text} />
          </span>
          {call.command !== null && <span className="covered">{reading.files.length > 0 ? words.ask.scriptStarts : words.ask.scriptNotCovered}</span>}
        </p>
        <Notes shown={shown} flags={reading.flags} />
        {form && <Sent raw={call.raw} />}
        {call.command !== null && rest.length > 0 && (
          <p className="also">
            <span className="sub">{words.ask.alsoInCall}: </span>
            {rest.map(([key, value]) => (
              <code key={key}>
                <VisibleText text={`${key}=${value}`} reading="code" />
              </code>
            ))}
          </p>
        )}
        {reading.files.map((file) => (
          <div className="withit" key={file.path}>
            <p>
              <Icon name="file" />
              <b>{words.ask.signedTogether}</b>{" "}
              <code>
                <VisibleText text={file.path} reading="code" />
              </code>
              <span className="sub">{words.ask.facts(file.shown.lineCount, file.shown.characters)}</span>
            </p>
            <Code shown={file.shown} label={words.ask.contentOf(file.path)} signed />
            <p className="facts">{words.ask.fileFacts}</p>
          </div>
        ))}
      </dd>
    </div>
  );
};

const Where = ({ ask, home }: ArticlesProps) => {
  const words = useWords();
  return (
    <div className="art row">
      <dt>{words.ask.where}</dt>
      <dd>
        <p title={words.ask.folderIdentity(ask.subject.cwdId)}>
          <code>
            <VisibleText text={homely(plain(ask.subject.cwd), home)} reading="code" />
          </code>
        </p>
      </dd>
    </div>
  );
};

const Tried = ({ ask }: ArticlesProps) => {
  const words = useWords();
  const { denied } = ask.subject;
  return (
    <div className="art row">
      <dt>{words.ask.tried}</dt>
      <dd>
        {denied ? (
          <p>
            {words.ask.triedAt}
            <span className="num">{clock(denied.time)}</span>: <b>{words.ask.refused}</b>
            {denied.path === null ? (
              words.ask.refusedNoPath
            ) : (
              <>
                {words.ask.refusedWrite}
                <code>
                  <VisibleText text={plain(denied.path)} reading="code" />
                </code>
              </>
            )}
          </p>
        ) : (
          <p>
            <b>{words.ask.notTriedStrong}</b>
            {words.ask.notTried}
          </p>
        )}
      </dd>
    </div>
  );
};

/** The model's own words, in its own voice: plain text, marked, never mixed with placet's. */
const Why = ({ ask, reading }: ArticlesProps) => {
  const words = useWords();
  const reason = ask.reason ?? reading.call.justification ?? "";
  const about = reading.call.description;
  return (
    <div className="art voice">
      <dt>{words.ask.why}</dt>
      <dd>
        <small>
          <b>{words.ask.agentSays}</b>
          {words.ask.notChecked}
        </small>
        {reason.trim() ? (
          <blockquote>
            <VisibleText text={squeezed(reason)} />
          </blockquote>
        ) : (
          <p className="plain">{words.ask.noReason}</p>
        )}
        {about && about.trim() && about !== reason && (
          <p className="about">
            <VisibleText text={squeezed(about)} />
          </p>
        )}
      </dd>
    </div>
  );
};

/** Runs of empty lines in the agent's words become one: they say nothing and would push the box apart. */
const squeezed = (text: string): string => {
  const folded = visible(text).blankLineRuns ? text.replaceAll(/\n[ \t]*(?:\n[ \t]*){2,}/g, "\n\n") : text;
  return folded.trim();
};

/** The five articles of a sheet, always in this order: what, where, mode, tried, why. */
export const Articles = (props: ArticlesProps) => (
  <dl className="arts">
    <What {...props} />
    <Where {...props} />
    <Ladder subject={props.ask.subject} />
    <Tried {...props} />
    <Why {...props} />
  </dl>
);
