import { useCallback, useEffect, useMemo, useState } from "react";
import { HalvesProvider, Overlay } from "../half";
import { Announcer } from "../inbox/Announcer";
import { Desk } from "../inbox/Desk";
import { DeskColumn } from "../inbox/DeskColumn";
import { Inbox, isTyping } from "../inbox/Inbox";
import { openMatters, totalWaiting } from "../inbox/matters";
import { usePanel } from "../inbox/usePanel";
import { PluginGesturesProvider } from "../plugin/gestures";
import { useLoadedHalves } from "../plugin/loading";
import { Panel, PanelColumn } from "../plugin/Panel";
import { titleOfSession } from "../session/name";
import { SessionPage } from "../session/SessionPage";
import { Icon } from "../theme/icons";
import { useHouse, useHouseState } from "../wire/useHouse";
import { clock } from "../words/times";
import { useNow } from "../words/useNow";
import { useWords } from "../words/words";
import { NewSession } from "./NewSession";
import { type Place, usePlace } from "./place";
import type { Preferences } from "./preferences";
import { Notifier } from "./Notifier";
import { KeyList, Settings } from "./Settings";
import { Sheet } from "./Sheet";
import { Sidebar } from "./Sidebar";
import { Start } from "./Start";

const nextRegion = () => {
  const regions = [...document.querySelectorAll<HTMLElement>("[data-region]")].filter((one) => one.offsetParent !== null || getComputedStyle(one).position === "fixed");
  const at = regions.findIndex((one) => one.contains(document.activeElement));
  const next = regions[(at + 1) % regions.length];
  const field = next?.matches("form") ? next.querySelector<HTMLElement>("textarea") : next;
  field?.focus();
};

const Lost = () => {
  const { connection } = useHouseState("connection");
  const house = useHouse();
  const words = useWords();
  const now = useNow(connection.state === "down");
  if (connection.state !== "down") return null;
  const seconds = Math.ceil((connection.retryAt - now) / 1000);
  return (
    <div className="lost" role="status">
      <Icon name="off" />
      <p>
        <b>{words.ask.offlineTitle(clock(connection.since))}</b> {seconds > 0 ? words.ask.offlineText(seconds) : words.ask.offlineTrying}
      </p>
      <button type="button" className="btn small" onClick={() => house.retry()}>
        {words.ask.tryNow}
      </button>
    </div>
  );
};

const Told = () => {
  const { told } = useHouseState("told");
  const now = useNow(told !== null);
  if (!told || now - told.at > 8000) return null;
  return (
    <p className="told-now" role="alert">
      {told.text}
    </p>
  );
};

/** The whole page once this browser is signed in. */
export const HousePage = ({ preferences, onPreferences }: { preferences: Preferences; onPreferences: (next: Preferences) => void }) => {
  const state = useHouseState("asks", "consents", "askTotal", "consentTotal", "sessions");
  const { sessions } = state;
  const words = useWords();
  const halves = useLoadedHalves();
  const [place, go] = usePlace();
  const [sheet, setSheet] = useState<"" | "new" | "settings" | "keys">("");
  const [drawer, setDrawer] = useState(false);
  const total = totalWaiting(state);
  const visit = useCallback(
    (next: Place) => {
      setDrawer(false);
      go(next);
    },
    [go],
  );
  const chosen = place.page === "start" ? null : place.ask;
  const sessionId = place.page === "session" ? place.id : null;
  const chooseHere = useCallback((ask: string | null) => sessionId && go({ page: "session", id: sessionId, ask }, true), [go, sessionId]);
  const panel = usePanel(useMemo(() => (place.page === "start" ? "none" : sessionId ? { session: sessionId } : "all"), [place.page, sessionId]));
  const { setOpen } = panel;
  const decide = useCallback(
    (run: string, session: string) => {
      setOpen(false);
      visit(place.page === "inbox" ? { page: "inbox", ask: run } : { page: "session", id: session, ask: run });
    },
    [setOpen, visit, place.page],
  );
  const openSheet = useCallback((session: string, id: string) => visit({ page: "session", id: session, ask: id }), [visit]);
  const ways = useMemo(() => ({ openPanel: () => setOpen(true), decide }), [setOpen, decide]);
  const chooseInbox = useCallback((ask: string | null) => go({ page: "inbox", ask }, true), [go]);

  const title = useMemo(() => {
    if (place.page === "inbox") return words.inbox.title;
    const session = sessionId ? sessions?.find((one) => one.id === sessionId) : undefined;
    return session ? titleOfSession(session, words) : "placet";
  }, [place.page, sessionId, sessions, words]);
  useEffect(() => {
    document.title = words.shell.titleWaiting(total, title === "placet" ? title : `${title} · placet`);
  }, [total, title, words]);

  useEffect(() => {
    let g = 0;
    const press = (event: KeyboardEvent) => {
      if (event.key === "F6") {
        event.preventDefault();
        return nextRegion();
      }
      if (event.key === "Escape" && drawer && !sheet) {
        setDrawer(false);
        return document.querySelector<HTMLElement>(".menu-btn")?.focus();
      }
      if (event.key === "Escape" && isTyping(event.target)) return (event.target as HTMLElement).blur();
      if (!preferences.keys || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || sheet) return;
      if (event.key === "?") return setSheet("keys");
      if (event.key === "g") return void (g = Date.now());
      if (event.key === "i" && Date.now() - g < 1200) return visit({ page: "inbox", ask: null });
      if (event.key === "[" || event.key === "]") document.querySelectorAll<HTMLButtonElement>(".queue .icon-btn")[event.key === "[" ? 0 : 1]?.click();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [preferences.keys, sheet, drawer, visit]);

  const menu = useMemo(() => (
    <button type="button" className="icon-btn menu-btn" aria-label={words.shell.menu(total)} aria-expanded={drawer} onClick={() => setDrawer(!drawer)}>
      <Icon name="menu" />
      {total > 0 && <span className="dot" />}
    </button>
  ), [words, total, drawer]);
  const { open: panelOpen, inDesk } = panel;
  const sides = useMemo(
    () => ({
      onNew: () => setSheet("new"),
      onSettings: () => setSheet("settings"),
      onKeys: () => setSheet("keys"),
      onPlugins: () => (setDrawer(false), setOpen(!panelOpen || !inDesk)),
      onCloseDrawer: () => setDrawer(false),
    }),
    [setOpen, panelOpen, inDesk],
  );
  const toInbox = useCallback(() => visit({ page: "inbox", ask: null }), [visit]);
  const toStart = useCallback(() => visit({ page: "start" }), [visit]);
  const alone = place.page === "start" && panelOpen && inDesk;
  useEffect(() => halves.setWorld(words.code, preferences.theme), [halves, words, preferences.theme]);
  return (
    <HalvesProvider value={halves}>
      <PluginGesturesProvider value={ways}>
      <nav aria-label={words.shell.skip}>
        <a
          className="skip"
          href="#conversation"
          onClick={(event) => {
            event.preventDefault();
            document.getElementById("conversation")?.focus();
          }}
        >
          {words.shell.skip}
        </a>
      </nav>
      <div className={`app ${place.page === "start" && !alone ? "two" : ""} page-${place.page}`}>
        <Sidebar place={place} go={visit} drawer={drawer} {...sides} />
        {place.page === "start" && <Start onNew={sides.onNew} menu={menu} />}
        {alone && <PanelColumn onDecide={decide} onClose={() => setOpen(false)} />}
        {place.page === "session" && (
          <SessionPage
            key={place.id}
            id={place.id}
            ask={chosen}
            onChoose={chooseHere}
            onInbox={toInbox}
            onGone={toStart}
            panel={panel.inDesk ? panel.open : null}
            onPanel={panel.setOpen}
            onDecide={decide}
            menu={menu}
          />
        )}
        {place.page === "inbox" && (
          <>
            <header className="head">
              {menu}
              <h1>{words.inbox.title}</h1>
              <span className="sub">{words.inbox.asks(total, new Set(openMatters(state).map((one) => one.session)).size)}</span>
            </header>
            <Inbox chosen={chosen} onChoose={chooseInbox} keys={preferences.keys} />
            <DeskColumn label={words.inbox.selected} idle={!chosen && !total} waiting={total} session={null} panel={panel.inDesk ? panel.open : null} onPanel={panel.setOpen} onDecide={decide}>
              <Desk chosen={chosen} onChoose={chooseInbox} onSession={(id) => visit({ page: "session", id, ask: chosen })} total={total} />
            </DeskColumn>
          </>
        )}
        <Overlay />
        <Lost />
      </div>
      {drawer && <div className="shade" onClick={() => setDrawer(false)} />}
      <Announcer />
      {preferences.notify && <Notifier onOpen={openSheet} />}
      <Told />
      <Sheet open={panel.open && !panel.inDesk} onClose={() => panel.setOpen(false)} title={words.plugin.panel} wide>
        <Panel session={sessionId} onDecide={decide} />
        <div className="pair">
          <button type="button" className="btn" onClick={() => panel.setOpen(false)}>
            {words.keys.close}
          </button>
        </div>
      </Sheet>
      <NewSession
        open={sheet === "new"}
        onClose={() => setSheet("")}
        onMade={(id) => {
          setSheet("");
          visit({ page: "session", id, ask: null });
        }}
      />
      <Settings open={sheet === "settings"} onClose={() => setSheet("")} preferences={preferences} onChange={onPreferences} />
      <KeyList open={sheet === "keys"} onClose={() => setSheet("")} />
      </PluginGesturesProvider>
    </HalvesProvider>
  );
};
