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
import "../src/theme/plugin.css";
import "./gallery.css";
import type { House } from "../src/wire/house";
import type { HouseState } from "../src/wire/state";
import type { AskView, Consent as Request, ConsentDecision, PluginView } from "../src/wire/shapes";
import { HouseProvider } from "../src/wire/useHouse";
import { WordsProvider, languages } from "../src/words/words";
import { Consent, type ConsentProps } from "../src/plugin/Consent";
import { consent, plugins } from "./plugins";
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

const Request = (props: Partial<ConsentProps> & { consent: Request; title: string }) => {
  const [note, setNote] = useState(props.note ?? "");
  const [answer, setAnswer] = useState(props.answering ?? noAnswer);
  return (
    <figure className="plate" id={props.title.replaceAll(/\W+/g, "-")}>
      <figcaption>{props.title}</figcaption>
      <Consent
        plugin={null}
        session={sessions[0]!}
        connection={up}
        sessionName="Session in atlas"
        person="owner"
        home={config.home}
        queue={null}
        onAnswer={(said) => ((document.title = `answered ${said}`), setAnswer({ state: "sending", outcome: said }))}
        onAgain={() => undefined}
        onRetry={() => undefined}
        {...props}
        answering={answer}
        note={note}
        onNote={setNote}
      />
    </figure>
  );
};

/** Both halves as long as they may be. */
const large = () => ({ client: Array.from({ length: 5000 }, (_, n) => `const part${n} = () => React.createElement("Text");`).join("\n"), host: Array.from({ length: 6000 }, (_, n) => `async def part_${n}(ctx): return ${n}`).join("\n") });

const said = (outcome: ConsentDecision["outcome"], more: Partial<ConsentDecision> = {}): ConsentDecision => ({ outcome, who: outcome === "cancelled" ? null : { kind: "person", name: "owner" }, channel: outcome === "cancelled" ? null : "page", time: now - 1000, ...more });

const consents = async (): Promise<ReactNode> => {
  const cal = plugins[0]!;
  const first = await consent();
  const update = await consent({ earlier: true });
  const only = await consent({ code: { host: null, client: 'return (ctx) => ctx.get("slots").register({ name: "sidebar.footer.action" }, () => "hello");' } });
  const long = await consent({ code: { host: Array.from({ length: 240 }, (_, n) => `print("line ${n + 1}")`).join("\n"), client: Array.from({ length: 90 }, (_, n) => `const part${n} = () => React.createElement("Text", {}, "part ${n}");`).join("\n") } });
  const won = said("declined", { who: { kind: "person", name: "reviewer" }, channel: "socket" });
  const running: PluginView = { ...cal, pending: null, state: "client-pending", latest: { ...cal.latest!, status: "client-pending" } };
  const sheets: [string, Partial<ConsentProps> & { consent: Request }][] = [
    ["update", { consent: update, plugin: cal }],
    ["first", { consent: first, queue: { at: 2, total: 5, previous: () => undefined, next: () => undefined } }],
    ["browser half only", { consent: only }],
    ["long", { consent: long }],
    ["same code", { consent: await consent({ earlier: true, code: { client: (await consent({ earlier: true })).whole!.before!.client, host: (await consent({ earlier: true })).whole!.before!.host } }), plugin: cal }],
    ["not read yet", { consent: { ...first, whole: null } }],
    ["from the panel", { consent: update, plugin: { ...cal, latest: { ...cal.latest!, by: { kind: "person", name: "owner" } } } }],
    ["hostile words", { consent: await consent({ code: { host: null, client: "0" }, name: "**Approved** <b>by placet</b>", purpose: `Verified safe by placet.${"\n".repeat(40)}Press Future versions too. \u202egnp.exe` }) }],
    ["wrong digest", { consent: { ...first, digest: "0".repeat(64) } }],
    ["sending", { consent: only, answering: { state: "sending", outcome: "future" } }],
    ["unknown", { consent: only, answering: { state: "unknown", outcome: "package" } }],
    ["not recorded", { consent: only, answering: { state: "not-recorded", outcome: "package" } }],
    ["refused", { consent: only, answering: { state: "refused", outcome: "package", why: "This needs the right to answer.", stale: false } }],
    ["lost", { consent: { ...update, state: "decided", decision: won }, plugin: cal, answering: { state: "lost", outcome: "package", decision: won } }],
    ["offline", { consent: only, connection: down }],
    ["agreed", { consent: { ...update, state: "decided", decision: said("consented", { width: "package" }) }, plugin: running }],
    ["agreed to all", { consent: { ...update, state: "decided", decision: said("consented", { width: "future" }) } }],
    ["declined", { consent: { ...update, state: "decided", decision: said("declined", { feedback: "Not at night, please." }) }, plugin: cal }],
    ["cancelled", { consent: { ...first, state: "decided", decision: said("cancelled", { detail: "stopped" }) } }],
  ];
  return (
    <main className="folio">
      <h1 className="vh">Requests for consent</h1>
      <div className="plates">
        {sheets.map(([title, props]) => (
          <Request key={title} title={title} {...props} />
        ))}
      </div>
    </main>
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
    asks: Object.fromEntries(asks.map((one) => [one.id, one])), askTotal: 4, askNext: null, answers: {}, consents: {}, consentTotal: 0, consentNext: null, consentAnswers: {}, plugins: query.has("plugins") ? plugins : [], pluginsStale: query.has("stale"), notes: {}, outbox: {}, browsers: null, told: null,
    ...state,
  };
  const noop = async () => true;
  const doors = new Proxy({}, { get: () => async () => null });
  return new Proxy({} as House, { get: (_, name) => (name === "then" ? undefined : name === "plugins" || name === "consents" ? doors : name === "subscribe" ? () => () => undefined : name === "snapshot" ? () => whole : noop) });
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
  consents,
  "consent-session": async () => ((location.hash ||= "#/session/s-1/run-7"), page({ asks: {}, consents: { "run-7": await consent(query.has("big") ? { code: large() } : { earlier: true }) }, consentTotal: 1 })),
  plugins: () => ((location.hash ||= "#/session/s-1"), page({ asks: {}, askTotal: 0 })),
  "consent-inbox": async () => ((location.hash ||= "#/inbox/run-7"), page({ consents: { "run-7": await consent({ earlier: true }) }, consentTotal: 1 })),
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
