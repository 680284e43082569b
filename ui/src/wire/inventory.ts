import type { LogEvent, PluginView } from "./shapes";

/**
 * What an event of the log changes at once in the inventory that the page holds: which run is the active one. Everything
 * else waits until the inventory is read anew. An event that the inventory knows already changes nothing.
 */
export const stepped = (plugins: readonly PluginView[], event: LogEvent): readonly PluginView[] => {
  const change = steps[event.type];
  const at = change ? plugins.findIndex((one) => one.plugin === event.data.plugin && one.session === event.session) : -1;
  const before = plugins[at];
  const after = before && change!(before, String(event.data.run), event);
  return after && after !== before ? plugins.with(at, after) : plugins;
};

type Step = (plugin: PluginView, run: string, event: LogEvent) => PluginView;

/** The host half is up: from now on pages load the client half. Where there is none the inventory tells the outcome. */
const ready: Step = (plugin, run, event) => {
  const { latest } = plugin;
  const known = plugin.packages.find((one) => one.package === latest?.package);
  if (!latest || latest.run !== run || !begun.has(latest.status) || !known?.hasClientHalf) return plugin;
  const waitingFor = names(event.data.waitingFor);
  const host = { status: known.hasHostHalf ? (waitingFor.length ? "waiting" : "running") : "absent", provides: names(event.data.provides), waitingFor, handlers: names(event.data.handlers) } as const;
  const up = { host, client: latest.client, status: "client-pending" } as const;
  return {
    ...plugin,
    state: "client-pending",
    pending: null,
    latest: { ...latest, ...up },
    activeRun: { ...up, run, package: latest.package, clientHalf: true, startedAt: event.time },
  };
};

/** It is over, so nothing of it stays in the page. */
const over: Step = (plugin, run) => (plugin.activeRun?.run === run ? { ...plugin, activeRun: null } : plugin);

const begun = new Set(["awaiting-approval", "starting-host"]);
const lives = new Set(["running", "waiting"]);
const names = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : []);

const steps: { [type: string]: Step | undefined } = {
  "cordis/ready": ready,
  "cordis/settled": (plugin, run, event) => (lives.has(String(event.data.status)) ? plugin : over(plugin, run, event)),
  "cordis/stopped": over,
};
