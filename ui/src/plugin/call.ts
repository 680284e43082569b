import type { ToolCall } from "../session/fold";
import type { CallArguments } from "../tool/result";
import type { Json, PluginView } from "../wire/shapes";
import { type HalfReading, halfOf } from "./reading";
import type { PluginStatus } from "./status";

/** A call of one of the plugin tools, as the log tells it. */
export type PluginCall =
  | { kind: "define"; plugin: string | null; package: string | null; existing: boolean; name: string; purpose: string; halves: HalfReading[] }
  | { kind: "run"; plugin: string; package: string; mode: "run" | "update"; run: string | null }
  | { kind: "stop" | "undefine"; plugin: string };

type Data = { [name: string]: Json };
const object = (value: Json | undefined): Data => (value !== null && typeof value === "object" && !Array.isArray(value) ? value : {});
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** What a call of a plugin tool says; null for every other call, and for one that cannot be read, which is shown raw. */
export const pluginCall = (call: Pick<ToolCall, "name" | "result">, args: CallArguments): PluginCall | null => {
  if (!call.name.startsWith("cordis_") || !args.readable) return null;
  let given: Data;
  try {
    given = object(JSON.parse(args.raw) as Json);
  } catch {
    return null;
  }
  const meta = call.result?.meta ?? {};
  switch (call.name) {
    case "cordis_define": {
      const code = object(given.code);
      const which = object(given.plugin);
      if (!text(code.client) && !text(code.host)) return null;
      return {
        kind: "define", plugin: text(meta.pluginId) || text(which.pluginId) || null, package: text(meta.packageId) || null, existing: which.kind === "existing", name: text(given.name), purpose: text(given.purpose),
        halves: (["client", "host"] as const).flatMap((name) => (text(code[name]) ? [halfOf(name, text(code[name]))] : [])),
      };
    }
    case "cordis_run":
      return { kind: "run", plugin: text(given.pluginId), package: text(given.packageId), mode: given.mode === "update" ? "update" : "run", run: text(meta.pluginRunId) || null };
    case "cordis_stop":
    case "cordis_undefine":
      return { kind: call.name === "cordis_stop" ? "stop" : "undefine", plugin: text(given.pluginId) };
    default:
      return null;
  }
};

/** What became of one run, as far as the inventory knows (M15). */
export const runState = (plugins: readonly PluginView[], plugin: string, run: string): PluginStatus | "removed" | "superseded" => {
  const found = plugins.find((one) => one.plugin === plugin);
  if (!found) return "removed";
  if (found.pending?.run === run) return "awaiting-approval";
  if (found.latest?.run === run) return found.latest.status;
  if (found.activeRun?.run === run) return found.activeRun.status;
  return "superseded";
};
