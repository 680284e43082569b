import { type ReactNode, useState } from "react";
import { createRoot } from "react-dom/client";
import { Ask, type AskProps } from "../src/ask/Ask";
import { type Answering, noAnswer } from "../src/ask/answering";
import { fold, blank } from "../src/session/fold";
import { Impostor, LinkGate } from "../src/shell/Gate";
import { HousePage } from "../src/shell/House";
import { type Theme, applyTheme, loadPreferences } from "../src/shell/preferences";
import "../src/theme/tokens.css";
import "../src/theme/base.css";
import "../src/theme/page.css";
import "./gallery.css";
import type { House } from "../src/wire/house";
import type { HouseState } from "../src/wire/state";
import type { AskView } from "../src/wire/shapes";
import { HouseProvider } from "../src/wire/useHouse";
import { WordsProvider, languages } from "../src/words/words";
import { ask, config, decision, hiddenCommand, longCommand, sessions, talkEvents } from "./fixtures";

const query = new URLSearchParams(location.search);
applyTheme((query.get("theme") ?? "auto") as Theme);
const words = languages[query.get("language") ?? "en"]!;
const now = Date.now();
const up = { state: "up", since: now } as const;
const down = { state: "down", since: now - 52_000, retryAt: now + 3_600_000 } as const;

const Sheet = (props: Partial<AskProps> & { ask: AskView; title: string }) => {
  const [note, setNote] = useState(props.note ?? "");
  return (
    <figure className="plate" id={props.title.replaceAll(/\W+/g, "-")}>
      <figcaption>{props.title}</figcaption>
      <Ask
        answering={noAnswer}
        connection={up}
        sessionName="Session in atlas"
        person="owner"
        home={config.home}
        queue={null}
        onAnswer={(outcome) => (document.title = `answered ${outcome}`)}
        onAgain={() => undefined}
        onRetry={() => undefined}
        {...props}
        note={note}
        onNote={setNote}
      />
    </figure>
  );
};

const cards = async (): Promise<ReactNode> => {
  const plain = await ask();
  const sending: Answering = { state: "sending", outcome: "allowed-once" };
  const won = decision("rejected", { who: { kind: "person", name: "reviewer" }, channel: "socket" });
  const sheets: [string, Partial<AskProps> & { ask: AskView }][] = [
    ["short", { ask: plain }],
    ["hidden", { ask: await ask({ command: hiddenCommand, denied: null, reason: "Copies the report, then installs the <b>signed</b> helper. **Approved by your administrator.**\n\n\n\n\n\nAllow once" }) }],
    ["queue, to workspace", { ask: await ask({ from: "read-only", to: "workspace-write", command: "npm test -- --update-snapshots", denied: "tests/__snapshots__/upload.snap" }), queue: { at: 2, total: 5, previous: () => undefined, next: () => undefined } }],
    ["long", { ask: await ask({ command: longCommand, denied: false, reason: "Routine rotation of old exports, nothing is deleted. Verified safe by placet." }) }],
    ["one long line", { ask: await ask({ command: `sh -c '${"echo a very long line; ".repeat(110)}touch /outside/END'`, denied: false }) }],
    ["blanks", { ask: await ask({ command: `echo harmless${" ".repeat(2000)}; touch /outside/x\n${"\n".repeat(300)}touch /outside/END`, denied: false }) }],
    ["unknown tool", { ask: await ask({ tool: "teleport", raw: '{"to":"mars","fuel":3}', to: null, denied: false }) }],
    ["unreadable arguments", { ask: await ask({ raw: "{not json", denied: false }) }],
    ["empty", { ask: await ask({ command: "", denied: false }) }],
    ["script", { ask: await ask({ command: "bash scripts/publish.sh stable", files: [{ path: "scripts/publish.sh", sha256: "0", text: "#!/usr/bin/env bash\nset -euo pipefail\ntar -C dist -czf atlas.tgz ." }] }) }],
    ["sending", { ask: plain, answering: sending }],
    ["unknown", { ask: plain, answering: { state: "unknown", outcome: "allowed-once" } }],
    ["not recorded", { ask: plain, answering: { state: "not-recorded", outcome: "allowed-once" } }],
    ["lost", { ask: { ...plain, state: "decided", decision: won }, answering: { state: "lost", outcome: "allowed-once", decision: won } }],
    ["rearmed", { ask: { ...plain, rearmed: true, earlierRun: true } }],
    ["offline", { ask: plain, connection: down }],
    ["answered", { ask: { ...plain, state: "decided", decision: decision("allowed-once") }, answering: { state: "settled" }, after: <span className="sub">{words.ask.usedUp}</span> }],
    ["cancelled", { ask: { ...plain, state: "decided", decision: decision("cancelled", { who: { kind: "system", name: "stop" }, channel: "system" }) } }],
    ["unavailable", { ask: { ...plain, state: "decided", decision: decision("unavailable", { detail: "expired", who: { kind: "system", name: "deadline" }, channel: "system" }) } }],
    ["wrong digest", { ask: { ...plain, digest: "0".repeat(64) } }],
  ];
  return (
    <main className="folio">
      <h1 className="vh">States</h1>
      <div className="plates">
        {sheets.map(([title, props]) => (
          <Sheet key={title} title={title} {...props} />
        ))}
      </div>
    </main>
  );
};

const house = async (state: Partial<HouseState>): Promise<House> => {
  const first = await ask({ id: "a-9", age: 47_000 });
  const asks = [
    first,
    await ask({ id: "a-10", command: "ln -sfn 2.4.md /srv/www/releases/latest.md", age: 12_000 }),
    await ask({ id: "a-11", session: "s-2", title: "Flaky upload test", from: "read-only", to: "workspace-write", command: "npm test -- --update-snapshots", age: 4000 }),
    await ask({ id: "a-12", session: "s-4", title: "Month-end import", command: longCommand, denied: false, age: 135_000 }),
  ];
  const events = talkEvents(first);
  const whole: HouseState = {
    connection: up, config, sessions,
    views: { "s-1": { talk: fold(blank, events), events, before: query.has("older") ? 1 : null, partial: query.has("speaking") ? { turn: 1, step: 6, text: "I ask for this one copy, and then I will look at the **flaky** te" } : null, permissions: { options: config.presets, currentValue: "workspace-write" }, jobs: [], state: "ready" } },
    asks: Object.fromEntries(asks.map((one) => [one.id, one])), askTotal: 4, askNext: null, answers: {}, notes: {}, outbox: {}, browsers: null, told: null,
    ...state,
  };
  const noop = async () => true;
  return new Proxy({} as House, { get: (_, name) => (name === "then" ? undefined : name === "subscribe" ? () => () => undefined : name === "snapshot" ? () => whole : noop) });
};

const page = async (state: Partial<HouseState> = {}): Promise<ReactNode> => (
  <HouseProvider value={await house(state)}>
    <HousePage preferences={loadPreferences()} onPreferences={() => undefined} />
  </HouseProvider>
);

const weak = { ...config, sandbox: { chosen: "landlock", backends: [{ name: "landlock", usable: true, enforcement: "partial", not_governed: ["Metadata of files outside the workspace: mode, times, extended attributes.", "Protected paths inside the workspace, such as .git/hooks.", "Keys and browser profiles of your account can be read."], why: null }] } };
const views: Record<string, () => Promise<ReactNode> | ReactNode> = {
  cards,
  session: () => ((location.hash ||= "#/session/s-1"), page()),
  inbox: () => ((location.hash ||= "#/inbox/a-9"), page()),
  "inbox-empty": () => ((location.hash ||= "#/inbox"), page({ asks: {}, askTotal: 0, sessions: sessions.map((one) => ({ ...one, openAsks: 0, status: "idle" })) })),
  weak: () => ((location.hash ||= "#/session/s-1"), page({ config: weak })),
  offline: () => ((location.hash ||= "#/session/s-1"), page({ connection: down })),
  start: () => ((location.hash = "#/"), page({ sessions: [], asks: {}, askTotal: 0 })),
  link: () => <LinkGate secret="x" revoked={false} onLinked={() => undefined} />,
  code: () => <LinkGate secret={null} revoked onLinked={() => undefined} />,
  impostor: () => <Impostor onAgain={() => undefined} onForget={() => undefined} />,
};

const shown = await (views[query.get("view") ?? "cards"] ?? cards)();
document.documentElement.lang = words.code;
createRoot(document.getElementById("root")!).render(<WordsProvider value={words}>{shown}</WordsProvider>);
