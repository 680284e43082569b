import type { ToolStatus } from "../tool/status";
import type { Json, LogEvent } from "../wire/shapes";
import type { JobView } from "../wire/types";
import type { Words } from "../words/words";

/** A command in the background, as the log tells it. The command stands in the escaped form; it is empty where the start lies before the loaded window. */
export interface Job {
  id: string;
  command: string;
  mode: string;
  since: number;
  ended: { exitCode: number | null; signal: string | null; reason: string } | null;
}

export type Jobs = Record<string, Job>;

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** Takes a start or an end into account. Pure. */
export const withJob = (jobs: Jobs, event: LogEvent): Jobs => {
  const { data, time } = event;
  const id = text(data.job);
  const known: Job = jobs[id] ?? { id, command: text(data.command), mode: text(data.mode), since: time, ended: null };
  if (event.type === "job/started") return { ...jobs, [id]: { ...known, command: text(data.command), mode: text(data.mode), since: time } };
  const ended = { exitCode: typeof data.exitCode === "number" ? data.exitCode : null, signal: typeof data.signal === "string" ? data.signal : null, reason: text(data.reason) };
  return { ...jobs, [id]: { ...known, ended } };
};

/** All that is known: what the loaded events tell, and the running jobs that the server has listed. */
export const allJobs = (folded: Jobs, listed: readonly JobView[]): Jobs => {
  const all: Jobs = {};
  for (const one of listed) all[one.job] = { id: one.job, command: one.command, mode: one.mode, since: one.startedAt, ended: folded[one.job]?.ended ?? null };
  for (const job of Object.values(folded)) all[job.id] ??= job;
  return all;
};

export const runningJobs = (jobs: Jobs): Job[] => Object.values(jobs).filter((job) => !job.ended).sort((one, other) => one.since - other.since);

/** The id of the job that a call has started, or null for any other result. */
export const jobOf = (value: Json): string | null =>
  value !== null && typeof value === "object" && !Array.isArray(value) && value.kind === "background" && typeof value.jobId === "string" ? value.jobId : null;

/** One word for how a job stands. */
export const jobStatus = (job: Job, words: Words): ToolStatus => {
  const { ended } = job;
  if (!ended) return { hue: "work", icon: "work", word: words.jobs.running, spin: true, since: job.since };
  if (ended.reason === "lost") return { hue: "wait", icon: "unknown", word: words.tool.unknown };
  if (ended.reason === "failed") return { hue: "refuse", icon: "alert", word: words.tool.error };
  if (ended.reason !== "exited") return { hue: "rest", icon: "slash", word: words.tool.stopped };
  if (ended.signal !== null) return { hue: "refuse", icon: "alert", word: words.tool.killed(ended.signal) };
  return { hue: ended.exitCode === 0 ? "allow" : "refuse", icon: ended.exitCode === 0 ? "check" : "alert", word: words.tool.ran(ended.exitCode ?? -1) };
};
