import type { Hue, IconName } from "../theme/icons";
import type { PluginView } from "../wire/shapes";
import type { AttemptView } from "../wire/types";
import type { Words } from "../words/words";

export type PluginStatus = AttemptView["status"] | "defined";
export interface Look {
  hue: Hue;
  icon: IconName;
  word: string;
  spin?: boolean;
}

const looks: Record<PluginStatus, Omit<Look, "word">> = {
  defined: { hue: "rest", icon: "file" },
  "awaiting-approval": { hue: "wait", icon: "wait" },
  "starting-host": { hue: "work", icon: "start", spin: true },
  "client-pending": { hue: "work", icon: "window" },
  running: { hue: "allow", icon: "play" },
  waiting: { hue: "rest", icon: "plug" },
  rejected: { hue: "refuse", icon: "cross" },
  failed: { hue: "refuse", icon: "alert" },
  cancelled: { hue: "rest", icon: "slash" },
  stopped: { hue: "rest", icon: "stop" },
};

/** How a status is told: colour, icon and word together. */
export const statusOf = (status: PluginStatus, words: Words): Look => ({ ...looks[status], word: words.plugin.status[status] ?? status });

const live = new Set<PluginStatus>(["starting-host", "client-pending", "running", "waiting"]);

/** The package that runs and is another than `name`: what stays as it is when `name` is declined, fails or waits. */
export const runningBeside = (plugin: PluginView | null, name: string): string | null => {
  const active = plugin?.activeRun;
  return active && active.package !== name && live.has(active.status) ? active.package : null;
};

/** One status, or two where an attempt came to nothing beside a version that still runs. */
export const rowStatus = (plugin: PluginView, words: Words): Look[] => {
  const { latest, activeRun } = plugin;
  const now = plugin.pending ? "awaiting-approval" : plugin.state;
  const look = statusOf(now, words);
  const beside = latest && latest.run !== activeRun?.run ? runningBeside(plugin, latest.package) : null;
  const ended = now === "rejected" || now === "failed" || now === "cancelled";
  // A verdict that somebody gave while another version runs is about that version alone.
  const attempt = latest && beside && (latest.status === "rejected" || latest.status === "failed" || latest.status === "cancelled") ? latest : null;
  if (attempt) return [{ ...statusOf(attempt.status, words), word: words.plugin.settledAs(attempt.package, statusOf(attempt.status, words).word) }, besideLook(activeRun!.status, beside!, words)];
  if (beside && (now === "awaiting-approval" || ended)) return [look, besideLook(activeRun!.status, beside, words)];
  return [look];
};

const besideLook = (status: PluginStatus, name: string, words: Words): Look => ({ ...statusOf(status, words), word: words.plugin.settledAs(name, statusOf(status, words).word) });
