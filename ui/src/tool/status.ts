import type { ToolCall } from "../session/fold";
import type { Hue, IconName } from "../theme/icons";
import type { Words } from "../words/words";
import { type BashResult, bashResult, sandboxOf } from "./result";

export interface ToolStatus {
  hue: Hue;
  icon: IconName;
  word: string;
  spin?: boolean;
  /** Running since then, where a clock is shown. */
  since?: number;
}

const refusedCodes = new Set(["ABORTED_BEFORE_DISPATCH", "TOOL_NOT_STARTED"]);

/** One word for what a call is doing or has become, from the log alone. */
export const toolStatus = (call: ToolCall, words: Words, open: boolean): ToolStatus => {
  const { result } = call;
  const waiting = call.asks.find((ask) => !call.decisions[ask.id]);
  if (!result) {
    if (waiting) return { hue: "wait", icon: "pen", word: words.tool.waiting };
    if (call.started) return open ? { hue: "work", icon: "work", word: words.tool.running, spin: true, since: call.started.time } : { hue: "rest", icon: "unknown", word: words.tool.unknown };
    return open ? { hue: "work", icon: "work", word: words.tool.prepared, spin: true } : { hue: "rest", icon: "slash", word: words.tool.notRun };
  }
  if (result.code === "TOOL_OUTCOME_UNKNOWN") return { hue: "wait", icon: "unknown", word: words.tool.unknown };
  const bash = bashResult(result.value);
  if (bash) return bashStatus(bash, words);
  if (sandboxOf(result.value)?.denied) return { hue: "refuse", icon: "denied", word: words.tool.denied };
  const last = call.asks.at(-1);
  const outcome = last && call.decisions[last.id]?.outcome;
  if (!call.started && (result.isError || refusedCodes.has(result.code ?? "")))
    return { hue: outcome === "cancelled" || outcome === "unavailable" || !outcome ? "rest" : "refuse", icon: outcome === "rejected" ? "cross" : "slash", word: words.tool.notRun };
  return result.isError ? { hue: "refuse", icon: "alert", word: words.tool.error } : { hue: "allow", icon: "check", word: words.tool.done };
};

const bashStatus = (bash: BashResult, words: Words): ToolStatus => {
  if (bash.sandbox?.denied) return { hue: "refuse", icon: "denied", word: words.tool.denied };
  if (bash.aborted) return { hue: "rest", icon: "slash", word: words.tool.stopped };
  if (bash.timedOut) return { hue: "refuse", icon: "wait", word: words.tool.timedOut(bash.timeoutMs) };
  if (bash.signal) return { hue: "refuse", icon: "alert", word: words.tool.killed(bash.signal) };
  return bash.exitCode === 0 ? { hue: "allow", icon: "check", word: words.tool.ran(0) } : { hue: "refuse", icon: "alert", word: words.tool.ran(bash.exitCode ?? -1) };
};
