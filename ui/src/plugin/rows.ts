import type { PluginView } from "../wire/shapes";
import type { PackageRow } from "../wire/types";

/** The plugins of this session and those of all others; inside each, what waits for the person comes first. */
export const grouped = (plugins: readonly PluginView[], session: string | null): { here: PluginView[]; others: PluginView[] } => {
  const rank = (plugin: PluginView): number => (plugin.pending ? 0 : 1);
  const sorted = [...plugins].sort((a, b) => rank(a) - rank(b));
  return { here: sorted.filter((one) => one.session === session), others: sorted.filter((one) => one.session !== session) };
};

export const waitingCount = (plugins: readonly PluginView[] | null): number => (plugins ?? []).filter((one) => one.pending).length;

/** What a person can start from a row, and what that is called. */
export type Start = { package: string; mode: "run" | "update"; word: "run" | "again" | "update" | "retry" | "ask" | "back" };

/** Which package a row offers first: the one that was wanted last, else the current, else the newest. */
export const offered = (plugin: PluginView): string | null => plugin.next ?? plugin.current ?? plugin.packages.at(-1)?.package ?? null;

const live = new Set(["starting-host", "client-pending", "running", "waiting"]);
export const isLive = (plugin: PluginView): boolean => plugin.activeRun !== null && live.has(plugin.activeRun.status);
/** Whether something of it is alive that can be stopped; a run whose drawing failed goes on in its host half. */
export const isUp = (plugin: PluginView): boolean => plugin.activeRun !== null && plugin.activeRun.status !== "starting-host";
export const isStarting = (plugin: PluginView): boolean => plugin.state === "starting-host";

export const modeOf = (plugin: PluginView, name: string): "run" | "update" => (plugin.current !== null && plugin.current !== name ? "update" : "run");

/** The starts of one row for the version that is picked: that one, and the way back where a newer one came to nothing (M9, M10). */
export const startsOf = (plugin: PluginView, picked: string): Start[] => {
  if (plugin.pending || isStarting(plugin)) return [];
  const { latest, current, activeRun } = plugin;
  const mode = modeOf(plugin, picked);
  const ended = latest?.package === picked ? latest.status : null;
  const running = activeRun?.package === picked && isLive(plugin);
  const word = running ? "again" : ended === "failed" ? "retry" : ended === "rejected" || ended === "cancelled" ? "ask" : mode === "update" ? "update" : "run";
  const starts: Start[] = [{ package: picked, mode, word }];
  if (plugin.next && plugin.next !== current && current && picked !== current && !(activeRun?.package === current && isLive(plugin))) starts.push({ package: current, mode: "run", word: "back" });
  return starts;
};

export const packageOf = (plugin: PluginView, name: string | null): PackageRow | null => plugin.packages.find((one) => one.package === name) ?? null;

/** The run that this page may load by hand: it is up on the server and its browser half is not in this page (M11). */
export const loadable = (plugin: PluginView): string | null => {
  const active = plugin.activeRun;
  return active?.clientHalf && (active.status === "client-pending" || active.status === "running" || active.status === "waiting") ? active.run : null;
};
