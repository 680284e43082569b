import { digestOf } from "../src/ask/digest";
import type { Consent, PluginView } from "../src/wire/shapes";

const now = Date.now();
const before = {
  package: "pkg-3",
  client: `const [days, setDays] = React.useState([]);
const panel = () => {
  React.useEffect(() => {
    host.call("week").then(setDays);
  }, []);
  return React.createElement("Stack", { gap: 1 },
    days.map((d) => React.createElement("Row", { key: d.date },
      d.label, " ", d.count)));
};
styles.insert(".strip { display: flex; gap: .5rem }");
return { inject: ["slots"], apply: (ctx) =>
  ctx.slots.register({ name: "sidebar.footer.action" }, panel) };`,
  host: `inject = ["files"]

async def apply(ctx):
    cache = {}

    async def read_week(_):
        text = await ctx.files.read("week.txt")
        cache["week"] = text.splitlines()
        return cache["week"]

    harness.handle("week", read_week)`,
};
export const client = before.client
  .replace('    host.call("week").then(setDays);', '    const load = () => host.call("week").then(setDays);\n    load();\n    return ctx.timer.every(60, load);')
  .replace('["slots"]', '["slots", "timer"]');
export const host = before.host.replace('["files"]', '["files", "timer"]') + "\n    ctx.timer.every(60, read_week)\n    # \u202ehidden\u2066 turn, and a p\u0430ssword";

export const consent = async (fields: Partial<Consent> & { earlier?: boolean; code?: { host: string | null; client: string | null } } = {}): Promise<Consent> => {
  const { earlier, code, ...rest } = fields;
  const signed = code ?? { host: host.replaceAll("\\", "\\\\"), client: client.replaceAll("\\", "\\\\") };
  return {
    run: "run-7", plugin: "cal-2", package: "pkg-4", mode: earlier ? "update" : "run", session: "s-1", sessionName: { text: "Release notes for 2.4", origin: "title" },
    name: "Calendar strip", purpose: "Shows how full each day of the week is, below the session list. This version refreshes itself once a minute.", model: "rehearsal",
    hasHostHalf: signed.host !== null, hasClientHalf: true, digest: await digestOf(signed), requestedAt: now - 252_000, state: "open", position: 1, total: 1,
    whole: { signed, wants: { services: [], host: signed.host ? ["files", "timer"] : [], client: signed.host ? ["slots", "timer"] : ["slots"], seats: ["sidebar.footer.action"] }, before: earlier ? before : null }, decision: null, ...rest,
  };
};

const half = (status: string, more = {}) => ({ status, provides: [], waitingFor: [], handlers: [], ...more }) as never;
const pack = (name: string, more = {}) => ({ package: name, name: "", purpose: "", hasHostHalf: true, hasClientHalf: true, digest: "0".repeat(64), definedAt: now - 600_000, consented: true, ...more });
const attempt = (run: string, name: string, status: string, more = {}) =>
  ({ run, package: name, mode: "run", status, host: half("running"), client: half("pending"), phase: null, error: null, detail: null, requestedAt: now - 5000, by: null, ...more }) as never;
const active = (run: string, name: string, status: string, more = {}) => ({ run, package: name, status, host: half("running"), client: half("running"), clientHalf: true, startedAt: now - 60_000, ...more }) as never;
const plugin = (id: string, name: string, purpose: string, more: Partial<PluginView>): PluginView => ({
  plugin: id, session: "s-1", sessionName: { text: "Release notes for 2.4", origin: "title" }, name, purpose, state: "defined", packages: [pack("pkg-1")], current: null, next: null, activeRun: null, latest: null, pending: null, future: false, consents: [], diagnostics: [], ...more,
});
const owner = { kind: "person", name: "owner" } as const;

export const plugins: PluginView[] = [
  plugin("cal-2", "Calendar strip", "How full each day of the week is.", {
    state: "awaiting-approval", packages: [pack("pkg-3"), pack("pkg-4", { consented: false })], current: "pkg-3", next: "pkg-4", activeRun: active("run-3", "pkg-3", "running"), latest: attempt("run-7", "pkg-4", "awaiting-approval"),
    pending: { run: "run-7", package: "pkg-4", mode: "update", requestedAt: now - 252_000 }, consents: [{ package: "pkg-3", width: "package", who: owner, channel: "page", at: now - 86_400_000 * 6 }],
  }),
  plugin("todo-5", "Margin list", "Open points beside the conversation.", { state: "starting-host", next: "pkg-1", latest: attempt("run-9", "pkg-1", "starting-host"), activeRun: null }),
  plugin("wx-1", "Build weather", "Last builds as a row of dots.", { state: "client-pending", packages: [pack("pkg-2")], next: "pkg-2", latest: attempt("run-10", "pkg-2", "client-pending"), activeRun: active("run-10", "pkg-2", "client-pending", { client: half("pending") }) }),
  plugin("cnt-3", "Word count", "Words of the draft, live.", {
    state: "running", packages: [pack("pkg-5"), pack("pkg-6")], current: "pkg-6", future: true, latest: attempt("run-11", "pkg-6", "running"), activeRun: active("run-11", "pkg-6", "running"),
    consents: [{ package: null, width: "future", who: owner, channel: "page", at: now - 86_400_000 * 9 }],
  }),
  plugin("feed-6", "Feed reader", "New items from a saved list.", { state: "waiting", current: "pkg-1", latest: attempt("run-12", "pkg-1", "waiting"), activeRun: active("run-12", "pkg-1", "waiting", { clientHalf: false, host: half("waiting", { waitingFor: ["feeds"] }) }) }),
  plugin("tab-4", "Tab colours", "A colour for each session.", {
    state: "running", packages: [pack("pkg-1"), pack("pkg-2", { consented: false })], current: "pkg-1", next: "pkg-2", latest: attempt("run-14", "pkg-2", "rejected", { phase: "approval" }), activeRun: active("run-13", "pkg-1", "running"),
    consents: [{ package: "pkg-1", width: "package", who: { kind: "person", name: "reviewer" }, channel: "socket", at: now - 86_400_000 }],
  }),
  plugin("chart-7", "Burn chart", "Work left, as a curve.", {
    session: "s-2", sessionName: { text: "Flaky upload test", origin: "title" }, state: "failed", packages: [pack("pkg-2"), pack("pkg-3")], current: "pkg-2", next: "pkg-3",
    latest: attempt("run-20", "pkg-3", "failed", { phase: "client-render", error: { message: "TypeError: points.map is not a function\n  at panel (client.js:9:14)", stack: "TypeError: points.map is not a function\n    at panel (client.js:9:14)\n    at renderWithHooks (runtime.js:1:2)" } }),
  }),
  plugin("ping-8", "Latency light", "A light for the mirror.", { session: "s-2", sessionName: { text: "Flaky upload test", origin: "title" }, state: "cancelled", latest: attempt("run-21", "pkg-1", "cancelled"), next: "pkg-1" }),
  plugin("clk-9", "World clock", "Three cities.", { session: "s-4", sessionName: { text: "Month-end import", origin: "title" }, state: "stopped", current: "pkg-1", latest: attempt("run-22", "pkg-1", "stopped") }),
  plugin("new-10", "Fresh", "Has never been run.", { session: "s-4", sessionName: { text: "Month-end import", origin: "title" }, packages: [pack("pkg-1", { consented: false })] }),
  plugin("bad-11", "Broken host", "Does not compile.", { session: "s-4", sessionName: { text: "Month-end import", origin: "title" }, state: "failed", next: "pkg-1", latest: attempt("run-23", "pkg-1", "failed", { phase: "host-load", error: { message: 'SyntaxError: invalid syntax\n    2 |   retrun 1\n      |   ^', line: 2 } }) }),
];
