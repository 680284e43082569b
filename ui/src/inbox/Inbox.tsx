import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { readingOf } from "../ask/reading";
import { nameOfSession } from "../session/name";
import { Boundary } from "../shell/Boundary";
import { oneLine } from "../text/visible";
import { Icon, Status } from "../theme/icons";
import type { AskView, Consent } from "../wire/shapes";
import { useHouse, useHouseState } from "../wire/useHouse";
import { span } from "../words/times";
import { useNow } from "../words/useNow";
import { useWords } from "../words/words";
import { type Matter, openMatters } from "./matters";

const Stake = ({ mode }: { mode: string | null }) => {
  const words = useWords();
  if (mode === "danger-full-access")
    return (
      <Status hue="refuse" icon="shield">
        {words.inbox.fullAccess}
      </Status>
    );
  if (mode === "workspace-write")
    return (
      <Status hue="wait" icon="file">
        {words.inbox.workspace}
      </Status>
    );
  return null;
};

interface RowProps {
  id: string;
  line: ReactNode;
  since: number;
  current: boolean;
  now: number;
  onOpen: () => void;
  children: ReactNode;
}

const Row = ({ id, line, since, current, now, onOpen, children }: RowProps) => (
  <li className={current ? "ib cur" : "ib"}>
    <a
      className="ib-l"
      href={`#/inbox/${id}`}
      aria-current={current || undefined}
      onClick={(event) => {
        event.preventDefault();
        onOpen();
      }}
    >
      {line}
    </a>
    <p className="ib-s">{children}</p>
    <span className="ib-a num">{span(now - since)}</span>
  </li>
);

const AskFacts = ({ ask, name }: { ask: AskView; name: string }) => {
  const words = useWords();
  const reading = readingOf(ask);
  return (
    <>
      <Stake mode={ask.subject.toMode} />
      <span className="sub">
        {oneLine(ask.agent, 40)} · {oneLine(name, 60)}
      </span>
      {reading.marked && (
        <Status hue="wait" icon="eye">
          {words.inbox.flagged}
        </Status>
      )}
      {reading.shown.lineCount > 1 && <span className="sub">{words.inbox.longOpen(reading.shown.lineCount)}</span>}
    </>
  );
};

const ConsentFacts = ({ consent, name }: { consent: Consent; name: string }) => {
  const words = useWords();
  return (
    <>
      <Status hue="wait" icon="window">
        {words.plugin.inboxStake}
      </Status>
      <span className="sub">
        {oneLine(consent.model, 40)} · {oneLine(name, 60)}
      </span>
      {consent.mode === "update" && <span className="sub">{words.plugin.inboxUpdate}</span>}
    </>
  );
};

const MatterRow = ({ matter, current, now, onOpen }: { matter: Matter; current: boolean; now: number; onOpen: () => void }) => {
  const words = useWords();
  const { sessions } = useHouseState("sessions");
  const name = nameOfSession(matter.kind === "ask" ? matter.ask : matter.consent, sessions, words);
  const line = matter.kind === "ask" ? <code>{oneLine(readingOf(matter.ask).text, 90)}</code> : <b>{words.plugin.inboxRow(oneLine(matter.consent.name, 60), matter.consent.package)}</b>;
  return (
    <Row id={matter.id} line={line} since={matter.since} current={current} now={now} onOpen={onOpen}>
      {matter.kind === "ask" ? <AskFacts ask={matter.ask} name={name} /> : <ConsentFacts consent={matter.consent} name={name} />}
    </Row>
  );
};

/** All that waits in all sessions, oldest first. A row opens the sheet; it never answers. */
export const Inbox = ({ chosen, onChoose, keys }: { chosen: string | null; onChoose: (id: string) => void; keys: boolean }) => {
  const house = useHouse();
  const { asks, consents, askTotal, askNext, consentTotal, consentNext } = useHouseState("asks", "consents", "askTotal", "askNext", "consentTotal", "consentNext");
  const words = useWords();
  const now = useNow();
  const list = useRef<HTMLUListElement>(null);
  const open = useMemo(() => openMatters({ asks, consents }), [asks, consents]);

  useEffect(() => {
    if (!keys) return;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      if (!step || !open.length) return;
      const at = open.findIndex((ask) => ask.id === chosen);
      onChoose(open[Math.max(0, Math.min(open.length - 1, at + step))]!.id);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [open, chosen, onChoose, keys]);

  return (
    <main className="main" id="conversation" tabIndex={0} aria-label={words.inbox.title} data-region="">
      {open.length === 0 ? (
        <section className="empty" aria-labelledby="empty-inbox">
          <svg viewBox="0 0 240 60" aria-hidden="true">
            <path d="M10 44H230" className="wm-line" />
            <path d="M26 40c10-4 20-28 15-29-6-.6-6 29 2 29 6 0 7-13 12-13 4 0 1 11 6 11 3 0 6-4 10-6" />
          </svg>
          <h2 className="record" id="empty-inbox">
            {words.inbox.emptyTitle}
          </h2>
          <p>{words.inbox.emptyText}</p>
        </section>
      ) : (
        <>
          <ul className="ibs" aria-label={words.inbox.open} ref={list}>
            {open.map((one) => (
              <Boundary key={one.id} of={one.kind === "ask" ? one.ask : one.consent} says={words.shell.partNotDrawn} around={(line) => <li className="ib">{line}</li>}>
                <MatterRow matter={one} current={one.id === chosen} now={now} onOpen={() => onChoose(one.id)} />
              </Boundary>
            ))}
          </ul>
          {(askNext !== null || consentNext !== null) && (
            <p className="older">
              <button type="button" className="btn small" onClick={() => void Promise.all([house.moreAsks(), house.consents.more()])}>
                {words.inbox.more(askTotal + (consentTotal ?? 0))}
              </button>
            </p>
          )}
          <p className="keys">
            <span>
              <kbd>J</kbd> <kbd>K</kbd> {words.inbox.keysHint}
            </span>
          </p>
          <p className="keys">
            <Icon name="eye" /> {words.inbox.choose}
          </p>
        </>
      )}
    </main>
  );
};

export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
