import { memo, useCallback, useEffect, useMemo, useState } from "react";
import { Composer } from "../composer/Composer";
import { Desk } from "../inbox/Desk";
import { DeskColumn } from "../inbox/DeskColumn";
import { openMatters, totalWaiting } from "../inbox/matters";
import { Seat, SeatSession } from "../half";
import { type JobsHere, JobsProvider } from "../job/Job";
import { JobsMenu } from "../job/JobsMenu";
import { allJobs } from "../job/jobs";
import { Limits } from "../shell/Limits";
import { Sheet } from "../shell/Sheet";
import { oneLine } from "../text/visible";
import { Icon, Status } from "../theme/icons";
import { MovingProvider } from "../tool/Appeared";
import type { Outgoing } from "../wire/state";
import { useHouse, useHouseState } from "../wire/useHouse";
import { shortFolder } from "../words/folder";
import { useWords } from "../words/words";
import { Conversation } from "./Conversation";
import { longTitle, titleOfSession } from "./name";
import { SessionMenu } from "./SessionMenu";

interface SessionPageProps {
  id: string;
  ask: string | null;
  onChoose: (id: string | null) => void;
  onInbox: () => void;
  onGone: () => void;
  menu: React.ReactNode;
  panel: boolean | null;
  onPanel: (open: boolean) => void;
  onDecide: (run: string, session: string) => void;
}

const tail = <Seat name="conversation.chat.turnTail" />;
const nothing: Outgoing[] = [];

/** One session: its conversation, the place to write, and the desk. */
export const SessionPage = memo(({ id, ask, onChoose, onInbox, onGone, menu, panel, onPanel, onDecide }: SessionPageProps) => {
  const house = useHouse();
  const state = useHouseState("views", "sessions", "connection", "config", "outbox", "asks", "consents", "askTotal", "consentTotal");
  const { views, sessions, connection, config, outbox } = state;
  const words = useWords();
  const [renaming, setRenaming] = useState<string | null>(null);
  const [deleting, setDeleting] = useState(false);
  const view = views[id];
  const summary = sessions?.find((one) => one.id === id) ?? null;
  const online = connection.state === "up";
  const known = view !== undefined;

  useEffect(() => {
    if (!known && online) void house.loadSession(id);
  }, [house, id, known, online]);

  const onOlder = useCallback(() => house.loadOlder(id), [house, id]);
  const onMove = useCallback((path: string) => house.moveAway(id, path), [house, id]);
  const onAgain = useCallback((one: string) => void house.sayAgain(id, one), [house, id]);
  const composing = useMemo(
    () => ({
      onSend: (text: string, steer: boolean) => void house.say(id, text, steer),
      onStop: () => house.stopTurn(id),
      onPreset: (preset: string, confirm: boolean) => house.permit(id, confirm ? { preset, confirm } : { preset }),
      onModel: (model: string) => void house.setModel(id, model),
    }),
    [house, id],
  );
  const folded = view?.talk.jobs;
  const listed = view?.jobs;
  const jobsHere = useMemo<JobsHere>(
    () => ({ jobs: allJobs(folded ?? {}, listed ?? []), online, read: (job, after) => house.readJob(id, job, after), kill: (job) => house.killJob(id, job) }),
    [house, id, folded, listed, online],
  );
  const facts = useMemo(
    () => (summary ? { id, title: titleOfSession(summary, words), status: summary.status, turn: summary.turn } : null),
    [id, summary?.status, summary?.turn, summary && titleOfSession(summary, words)],
  );
  const choose = useCallback((one: string | null) => onChoose(one), [onChoose]);

  const here = openMatters(state, id);
  const elsewhere = Math.max(0, totalWaiting(state) - here.length);
  const waiting = Math.max(here.length, summary?.openAsks ?? 0);
  const desk = ask !== null || here.length > 0;
  const title = summary ? titleOfSession(summary, words) : "";
  const pending = outbox[id] ?? nothing;

  if (view?.state === "missing")
    return (
      <div className="app two">
        <header className="head">{menu}</header>
        <main className="main" id="conversation" tabIndex={0}>
          <section className="empty">
            <h2 className="record">{view.removedBy === undefined ? words.shell.notFound : words.shell.removed(view.removedBy || words.somebody)}</h2>
          </section>
        </main>
      </div>
    );

  return (
    <JobsProvider value={jobsHere}>
      <header className="head">
        {menu}
        <div className="ttl">
          <h1 title={summary ? longTitle(summary, words) : undefined}>{title}</h1>
          <p className="sub mono" title={summary ? oneLine(summary.cwd, 300) : undefined}>
            {summary && oneLine(shortFolder(summary.cwd, config?.home ?? "", 30), 80)}
          </p>
        </div>
        {waiting > 0 ? (
          <Status hue="wait" icon="pen" tag>
            {words.ask.waiting}
          </Status>
        ) : (
          view?.talk.open && (
            <Status hue="work" icon="work" tag spin>
              {words.shell.working}
            </Status>
          )
        )}
        {summary?.archived && waiting === 0 && (
          <Status hue="rest" icon="inbox" tag>
            {words.shell.archived}
          </Status>
        )}
        <JobsMenu />
        {summary && (
          <SessionMenu
            archived={summary.archived}
            online={online}
            running={view?.talk.open ?? false}
            onRename={() => setRenaming(summary.title ?? "")}
            onArchive={() => void house.change(id, { archived: !summary.archived })}
            onDelete={() => setDeleting(true)}
          />
        )}
      </header>
      <div className="middle">
        <Seat name="session.header" facts={facts} />
        {config && <Limits config={config} model={summary?.model ?? config.model} />}
        {view?.state === "ready" ? (
          <SeatSession value={facts}>
            <MovingProvider value={online ? onMove : null}>
              <Conversation talk={view.talk} partial={view.partial} older={view.before !== null} onOlder={onOlder} onAsk={choose} outbox={pending} onAgain={onAgain} tail={tail} />
            </MovingProvider>
          </SeatSession>
        ) : (
          <main className="main" id="conversation" tabIndex={0} aria-label={words.shell.conversation}>
            <div className="minutes">
              <p className="sub" role="status">
                {view?.state === "failed" ? words.shell.loadFailed : words.shell.loading}
              </p>
            </div>
          </main>
        )}
      </div>
      <Composer
        key={id}
        session={id}
        busy={view?.talk.open ?? false}
        stopping={Boolean(view?.talk.aborted)}
        online={online}
        permissions={view?.permissions ?? null}
        preset={summary?.preset ?? ""}
        model={summary?.model ?? config?.model ?? ""}
        config={config}
        {...composing}
      />
      <DeskColumn
        label={words.shell.toDecide}
        idle={!desk}
        waiting={waiting}
        session={id}
        headed
        panel={panel}
        onPanel={onPanel}
        onDecide={onDecide}
        aside={
          elsewhere > 0 && (
            <button type="button" className="link" onClick={onInbox}>
              {words.shell.elsewhere(elsewhere)}
            </button>
          )
        }
      >
        <Desk session={id} chosen={ask} onChoose={choose} total={summary?.openAsks} />
        {!desk && (
          <div className="desk-empty">
            <p>{words.shell.nothingWaits}</p>
            <p className="sub">{words.shell.nothingWaitsText}</p>
          </div>
        )}
      </DeskColumn>
      <Sheet open={renaming !== null} onClose={() => setRenaming(null)} title={words.shell.rename}>
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            void house.change(id, { title: renaming?.trim() ?? "" });
            setRenaming(null);
          }}
        >
          <label>
            <b>{words.shell.titleLabel}</b>
            <input className="field" value={renaming ?? ""} maxLength={200} onChange={(event) => setRenaming(event.target.value)} autoFocus />
          </label>
          <div className="pair">
            <button type="button" className="btn" onClick={() => setRenaming(null)}>
              {words.shell.cancel}
            </button>
            <button type="submit" className="btn ink" disabled={!renaming?.trim()}>
              {words.shell.save}
            </button>
          </div>
        </form>
      </Sheet>
      <Sheet open={deleting} onClose={() => setDeleting(false)} title={words.shell.deleteTitle} alert>
        <p>{words.shell.deleteText}</p>
        <div className="pair">
          <button type="button" className="btn" onClick={() => setDeleting(false)}>
            {words.shell.deleteNo}
          </button>
          <button
            type="button"
            className="btn stop"
            onClick={() => {
              setDeleting(false);
              void house.remove(id).then((gone) => gone && onGone());
            }}
          >
            <Icon name="cross" />
            {words.shell.deleteYes}
          </button>
        </div>
      </Sheet>
    </JobsProvider>
  );
});
