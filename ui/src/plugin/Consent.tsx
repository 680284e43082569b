import { type ReactNode, useCallback, useEffect, useId, useRef, useState } from "react";
import { AnswerBanner, OfflineBanner } from "../ask/Banners";
import { useDigest } from "../ask/digest";
import { Head, type Queue } from "../ask/Head";
import { useNarrow, useReach } from "../ask/reach";
import { channelName, whoName } from "../ask/Seal";
import { Ids } from "../text/Ids";
import { VisibleText } from "../text/Visible";
import { Icon, Status } from "../theme/icons";
import type { Consent as Request, PluginView, Summary } from "../wire/shapes";
import type { Connection } from "../wire/stream";
import { homely } from "../words/folder";
import { useWords } from "../words/words";
import { type ConsentAnswering, type ConsentSaid, decisionWord } from "./answer";
import { CodeTabs } from "./Code";
import { ConsentSeal, decisionHue, decisionIcon } from "./ConsentSeal";
import { ConsentSign } from "./ConsentSign";
import { type CodeReading, type Part, codeReading } from "./reading";
import { runningBeside } from "./status";
import { consentTitle } from "./title";
import { Wants } from "./Wants";

export interface ConsentProps {
  consent: Request;
  /** The plugin as the panel knows it: what of it runs now. */
  plugin: PluginView | null;
  session: Summary | null;
  sessionName: string;
  answering: ConsentAnswering;
  connection: Connection;
  person: string;
  home: string;
  queue: Queue | null;
  note: string;
  onNote: (text: string) => void;
  onAnswer: (said: ConsentSaid, feedback?: string) => void;
  onAgain: () => void;
  onRetry: () => void;
  onSession?: () => void;
  after?: ReactNode;
}

const nothing: CodeReading = { halves: [], change: null, needed: [] };
const noCode = {};

interface Shown {
  shown: ReadonlySet<Part>;
  sheet: boolean;
}

const unseen: Shown = { shown: new Set(), sheet: false };

/** What was on this page's screen of each request, to its end: a look elsewhere loses nothing, a reload does. */
const seen = new Map<string, Shown>();

/** Which parts of the code have been on screen to their end, for exactly these bytes. */
const useShown = (identity: string) => {
  const [, draw] = useState(0);
  const mark = useCallback(
    (part: Part | null, sheet: boolean) => {
      const old = seen.get(identity) ?? unseen;
      if ((part === null || old.shown.has(part)) && (old.sheet || !sheet)) return;
      seen.set(identity, { shown: part === null ? old.shown : new Set([...old.shown, part]), sheet: old.sheet || sheet });
      draw((times) => times + 1);
    },
    [identity],
  );
  return { ...(seen.get(identity) ?? unseen), mark };
};

/** One request for consent as a sheet: all of the code, what it wants, what stays, and a place to sign. It never takes the focus and has no default. */
export const Consent = (props: ConsentProps) => {
  const { consent, plugin, answering, connection, session } = props;
  const words = useWords();
  const titleId = useId();
  const sheet = useRef<HTMLElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const { whole, decision } = consent;
  const reading = whole ? codeReading(whole) : nothing;
  const identity = `${consent.run} ${consent.digest} ${whole ? "" : "-"}`;
  const first: Part = reading.change ? "change" : (reading.halves[0]?.name ?? "client");
  const [chosen, setChosen] = useState<{ identity: string; part: Part } | null>(null);
  const part = chosen?.identity === identity ? chosen.part : first;
  const reach = useReach(body, `${identity} ${part}`);
  const { shown, sheet: seenSheet, mark } = useShown(identity);
  const match = useDigest(whole?.signed ?? noCode, consent.digest);
  const narrow = useNarrow();
  const offline = connection.state !== "up";
  const settled = consent.state === "decided";
  const running = runningBeside(plugin, consent.package);
  const [inside, setInside] = useState(false);

  useEffect(() => {
    if (whole) mark(reach.text ? part : null, reach.sheet);
  }, [whole, reach.text, reach.sheet, part, mark]);
  useEffect(() => {
    if (settled && inside && document.activeElement === document.body) sheet.current?.focus({ preventScroll: true });
  }, [settled, inside]);

  const toEnd = () => {
    const region = body.current?.querySelector<HTMLElement>("[data-signed]");
    if (!region) return;
    region.scrollTop = region.scrollHeight;
    region.lastElementChild?.scrollIntoView({ block: "nearest" });
    region.focus({ preventScroll: true });
  };

  const missing = reading.needed.find((one) => !shown.has(one));
  const hold = (() => {
    if (!whole || match === "checking") return words.plugin.holdReading;
    if (match === "different") return words.ask.staleText;
    if (missing) return missing === part ? words.plugin.holdEnd(words.plugin.part[missing] ?? missing) : words.plugin.holdTab(words.plugin.part[missing] ?? missing);
    if (narrow && !seenSheet) return words.plugin.holdSheet;
    return null;
  })();
  const word = (said: ConsentSaid) => (said === "declined" ? words.plugin.decline : words.plugin.field[said]!);
  const asker = plugin?.latest?.run === consent.run ? plugin.latest.by : null;
  const byPerson = asker?.kind === "person" || asker?.kind === "user" ? String(asker.name ?? "") : null;

  return (
    <article
      className={settled || offline ? "ask consent dim" : "ask consent"}
      aria-labelledby={titleId}
      ref={sheet}
      tabIndex={-1}
      data-ask={consent.run}
      data-more={reach.more ? "" : undefined}
      onFocus={() => setInside(true)}
      onBlur={(event) => event.relatedTarget && !event.currentTarget.contains(event.relatedTarget) && setInside(false)}
    >
      <Head queue={props.queue} since={consent.requestedAt} until={decision?.time ?? null}>
        {decision ? (
          <Status hue={decisionHue(decision)} icon={decisionIcon(decision)}>
            {decision.outcome === "consented" ? decisionWord(decision, words) : words.plugin.settledAs(consent.package, decisionWord(decision, words))}
          </Status>
        ) : offline ? (
          <Status hue="rest" icon="off">
            {words.ask.notConnected}
          </Status>
        ) : (
          <Status hue="wait" icon="wait">
            {words.ask.waiting}
          </Status>
        )}
        {decision && running && decision.outcome !== "consented" && (
          <Status hue="allow" icon="play">
            {words.plugin.runsOn(running)}
          </Status>
        )}
      </Head>
      {!settled && offline && <OfflineBanner connection={connection} onRetry={props.onRetry} />}
      {(!settled || answering.state === "lost") && (
        <AnswerBanner
          answering={answering}
          onAgain={props.onAgain}
          offline={offline}
          word={word}
          lost={(one) =>
            one ? words.ask.lostText(one.who ? whoName({ who: one.who }, words) : words.said.placet, decisionWord(one, words), channelName(one.channel ?? "system", words)) : words.plugin.lostUnknown
          }
        />
      )}
      <div className="ask-body" ref={body} tabIndex={reach.more ? 0 : undefined}>
        <h2 className="ask-title" id={titleId}>
          {consentTitle(consent, words)}
        </h2>
        <p className="ask-from">
          {byPerson === null ? words.ask.askedBy : words.plugin.writtenBy}
          <b className="by-agent" title={words.ask.modelName}>
            <VisibleText text={consent.model} />
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
          )}
          {byPerson !== null && `, ${words.plugin.startedBy(byPerson || words.somebody)}`} · {words.plugin.plugin} <code>{consent.plugin}</code> · {words.plugin.version} <code>{consent.package}</code>
          {consent.mode === "update" && plugin?.current && plugin.current !== consent.package && (
            <>
              {" "}
              · {words.plugin.updateOf} <code>{plugin.current}</code>
            </>
          )}
        </p>
        <dl className="arts">
          <div className="art what">
            <dt>{words.ask.what}</dt>
            <dd>
              {whole ? (
                <CodeTabs reading={reading} part={part} onPart={(next) => setChosen({ identity, part: next })} shown={settled ? new Set(reading.needed) : shown} reach={reach} onEnd={toEnd} />
              ) : (
                <p className="plain" role="status">
                  {words.plugin.holdReading}
                </p>
              )}
            </dd>
          </div>
          <div className="art row">
            <dt>{words.ask.where}</dt>
            <dd>
              <p>
                {consent.hasHostHalf && (
                  <>
                    {words.plugin.whereHost}
                    {session && (
                      <>
                        {words.plugin.whereIn}
                        <code>
                          <VisibleText text={homely(session.cwd, props.home)} reading="code" />
                        </code>
                        {words.plugin.whereMode}
                        <code>{session.mode}</code>
                      </>
                    )}
                    .{" "}
                  </>
                )}
                {words.plugin.whereClient}
                <b>{words.plugin.wherePage}</b>
                {words.plugin.whereClientEnd}
              </p>
            </dd>
          </div>
          {whole && <Wants code={whole} />}
          {!settled && (
            <div className="art row">
              <dt>{words.plugin.stays}</dt>
              <dd>
                <p>
                  <Ids text={running ? words.plugin.staysRunning(running, consent.package) : words.plugin.staysNothing} />
                </p>
              </dd>
            </div>
          )}
          <div className="art voice">
            <dt>{words.plugin.purpose}</dt>
            <dd>
              <small>
                <b>{words.ask.agentSays}</b>
                {words.ask.notChecked}
              </small>
              <p className="about">
                <b>
                  <VisibleText text={consent.name} reading="code" />
                </b>
              </p>
              <blockquote>
                <VisibleText text={consent.purpose.replaceAll(/\n[ \t]*(?:\n[ \t]*){2,}/g, "\n\n")} />
              </blockquote>
            </dd>
          </div>
        </dl>
      </div>
      <button type="button" className="more-cue" tabIndex={-1} onClick={() => body.current?.scrollBy({ top: body.current.clientHeight * 0.8 })}>
        <Icon name="down" />
        <span>{words.ask.moreBelow}</span>
      </button>
      {decision ? (
        <footer className="sign">
          <ConsentSeal consent={consent} decision={decision} plugin={plugin}>
            {props.after}
          </ConsentSeal>
        </footer>
      ) : (
        <ConsentSign
          consent={consent}
          running={running}
          person={props.person}
          hold={hold}
          dead={offline ? words.ask.offlineSafe : answering.state === "unknown" || settled ? "" : null}
          busy={answering.state === "sending" ? words.plugin.sending(word(answering.outcome)) : null}
          note={props.note}
          onNote={props.onNote}
          onAnswer={props.onAnswer}
        />
      )}
    </article>
  );
};
