import { memo, useState } from "react";
import { Seat } from "../half";
import { openMatters, totalWaiting } from "../inbox/matters";
import { waitingCount } from "../plugin/rows";
import { longTitle, titleOfSession } from "../session/name";
import { oneLine } from "../text/visible";
import { Icon, Wordmark } from "../theme/icons";
import type { Summary } from "../wire/shapes";
import type { Connection } from "../wire/stream";
import { useHouseState } from "../wire/useHouse";
import { shortFolder } from "../words/folder";
import { clock, when } from "../words/times";
import { useWords } from "../words/words";
import type { Place } from "./place";

const Count = ({ n }: { n: number }) => {
  const words = useWords();
  return (
    <span className="count">
      <span aria-hidden="true">{n}</span>
      <span className="vh">{words.shell.waitingCount(n)}</span>
    </span>
  );
};

const SessionRow = ({ session, waiting, current, go }: { session: Summary; waiting: number; current: boolean; go: (place: Place) => void }) => {
  const words = useWords();
  const state = waiting > 0 ? "wait" : session.status === "running" ? "work" : session.status === "interrupted" ? "rest" : "";
  return (
    <a
      className={`srow${state ? ` c-${state}` : ""}`}
      href={`#/session/${session.id}`}
      aria-current={current ? "page" : undefined}
      onClick={(event) => {
        event.preventDefault();
        go({ page: "session", id: session.id, ask: null });
      }}
    >
      {state === "wait" ? <Icon name="pen" /> : state === "work" ? <Icon name="work" className="spin" /> : state === "rest" ? <Icon name="slash" /> : <span />}
      <span className="t" title={longTitle(session, words)}>
        {titleOfSession(session, words)}
      </span>
      {waiting > 0 ? <Count n={waiting} /> : <span className="a">{when(session.lastTime, Date.now(), words.code)}</span>}
      {state === "wait" && <span className="s c-wait">{words.shell.decisionsWait(waiting)}</span>}
      {state === "work" && <span className="s c-work">{words.shell.working}</span>}
      {state === "rest" && <span className="s">{words.shell.interrupted}</span>}
    </a>
  );
};

export const ConnectionLine = ({ connection }: { connection: Connection }) => {
  const words = useWords();
  const up = connection.state === "up";
  const text = up ? words.shell.connected : connection.state === "connecting" ? words.shell.connecting : words.shell.disconnected(clock(connection.since));
  return (
    <p className={up ? "conn" : "conn off"} role="status">
      <Icon name={up ? "check" : connection.state === "connecting" ? "work" : "off"} />
      {text}
    </p>
  );
};

interface SidebarProps {
  place: Place;
  go: (place: Place) => void;
  onNew: () => void;
  onSettings: () => void;
  onKeys: () => void;
  onPlugins: () => void;
  drawer: boolean;
  onCloseDrawer: () => void;
}

/** All sessions by folder, with a mark where an answer is waited for; waiting outranks everything else. */
export const Sidebar = memo(({ place, go, onNew, onSettings, onKeys, onPlugins, drawer, onCloseDrawer }: SidebarProps) => {
  const state = useHouseState("sessions", "connection", "config", "plugins", "asks", "consents", "askTotal", "consentTotal");
  const { sessions, connection, config, plugins } = state;
  const words = useWords();
  const [archived, setArchived] = useState(false);
  const open = openMatters(state);
  const total = totalWaiting(state);
  const asking = waitingCount(plugins);
  const waitingOf = (session: Summary) => Math.max(session.openAsks, open.filter((one) => one.session === session.id).length);
  const shown = (sessions ?? []).filter((session) => archived || !session.archived || session.openAsks > 0);
  const hidden = (sessions ?? []).filter((session) => session.archived).length;
  const folders = new Map<string, Summary[]>();
  for (const session of [...shown].sort((a, b) => b.lastTime - a.lastTime)) folders.set(session.cwd, [...(folders.get(session.cwd) ?? []), session]);

  return (
    <aside className={drawer ? "side open" : "side"} aria-label={words.shell.sessions} data-region="" tabIndex={-1}>
      <div className="side-top">
        <a
          href="#/"
          aria-label="placet"
          onClick={(event) => {
            event.preventDefault();
            go({ page: "start" });
          }}
        >
          <Wordmark />
        </a>
        <span className="side-acts">
          <button type="button" className="btn small" onClick={onNew} disabled={connection.state !== "up"}>
            <Icon name="plus" />
            {words.shell.newSession}
          </button>
          {drawer && (
            <button type="button" className="icon-btn drawer-close" aria-label={words.shell.closeMenu} onClick={onCloseDrawer}>
              <Icon name="cross" />
            </button>
          )}
        </span>
      </div>
      <nav aria-label={words.shell.nav}>
        <a
          className={total ? "srow big c-wait" : "srow big"}
          href="#/inbox"
          aria-current={place.page === "inbox" ? "page" : undefined}
          onClick={(event) => {
            event.preventDefault();
            go({ page: "inbox", ask: null });
          }}
        >
          <Icon name="inbox" />
          <span className="t">{words.shell.inbox}</span>
          {total > 0 && <Count n={total} />}
        </a>
        {[...folders].map(([folder, list]) => (
          <div key={folder}>
            <p className="side-h" title={oneLine(folder, 300)}>
              {oneLine(shortFolder(folder, config?.home ?? "", 28), 60)}
            </p>
            {list.map((session) => (
              <SessionRow key={session.id} session={session} waiting={waitingOf(session)} current={place.page === "session" && place.id === session.id} go={go} />
            ))}
          </div>
        ))}
        {hidden > 0 && (
          <p className="side-more">
            <button type="button" className="link" aria-expanded={archived} onClick={() => setArchived(!archived)}>
              {archived ? words.shell.hideArchived : words.shell.showArchived(hidden)}
            </button>
          </p>
        )}
      </nav>
      <div className="side-foot">
        <Seat name="sidebar.footer.action" />
        {plugins !== null && plugins.length > 0 && (
          <button type="button" className={asking ? "srow big c-wait" : "srow big"} onClick={onPlugins}>
            <Icon name="blocks" />
            <span className="t">{words.plugin.panel}</span>
            <span className="a">
              <span className="vh">{words.plugin.badge(plugins.length, asking)}</span>
              <span aria-hidden="true">{plugins.length}</span>
              {asking > 0 && (
                <span className="count" aria-hidden="true">
                  {asking}
                </span>
              )}
            </span>
          </button>
        )}
        <button type="button" className="srow big" onClick={onSettings}>
          <Icon name="gear" />
          <span className="t">{words.shell.settings}</span>
        </button>
        <button type="button" className="srow big" onClick={onKeys}>
          <Icon name="keyboard" />
          <span className="t">{words.shell.keys}</span>
          <kbd>?</kbd>
        </button>
        <ConnectionLine connection={connection} />
      </div>
    </aside>
  );
});
