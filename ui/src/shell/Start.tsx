import { totalWaiting } from "../inbox/matters";
import { Icon } from "../theme/icons";
import { useHouseState } from "../wire/useHouse";
import { useWords } from "../words/words";
import { Limits } from "./Limits";

/** The page with nothing open: what a session is, and the way into the first one. */
export const Start = ({ onNew, menu }: { onNew: () => void; menu: React.ReactNode }) => {
  const state = useHouseState("config", "sessions", "connection", "asks", "consents", "askTotal", "consentTotal");
  const { config, sessions, connection } = state;
  const waiting = totalWaiting(state);
  const words = useWords();
  return (
    <>
      <header className="head">{menu}</header>
      <div className="middle">
        {config && <Limits config={config} model={config.model} />}
        <main className="main" id="conversation" tabIndex={0} data-region="" aria-label={words.shell.conversation}>
          <section className="empty" aria-labelledby="start-h">
            <svg viewBox="0 0 240 60" aria-hidden="true">
              <path d="M10 44H230" className="wm-line" />
              <path d="M26 40c10-4 20-28 15-29-6-.6-6 29 2 29 6 0 7-13 12-13 4 0 1 11 6 11 3 0 6-4 10-6" />
            </svg>
            <h1 className="record" id="start-h">
              {waiting ? words.shell.decisionsWait(waiting) : sessions?.length ? words.inbox.emptyTitle : words.shell.noSessions}
            </h1>
            <p>{words.shell.noSessionsText}</p>
            <button type="button" className="btn ink" onClick={onNew} disabled={connection.state !== "up"}>
              <Icon name="plus" />
              {words.shell.startOne}
            </button>
          </section>
        </main>
      </div>
    </>
  );
};
