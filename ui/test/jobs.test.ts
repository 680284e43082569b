import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allJobs, jobOf, jobStatus, runningJobs } from "../src/job/jobs";
import { blank, fold } from "../src/session/fold";
import type { LogEvent } from "../src/wire/shapes";
import { en } from "../src/words/en";

const rows = readFileSync(join(import.meta.dirname, "../../tests/fixtures/logs/families/job.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line) as LogEvent);
const starts = rows.filter((row) => row.type !== "job/ended");

describe("jobs", () => {
  it("are known from the golden log, running and ended", () => {
    expect(runningJobs(fold(blank, starts).jobs).map((job) => job.command)).toHaveLength(4);
    const { jobs } = fold(blank, rows);
    expect(runningJobs(jobs)).toEqual([]);
    expect(Object.values(jobs).map((job) => [job.ended!.reason, jobStatus(job, en).word])).toEqual([
      ["lost", "Outcome unknown"],
      ["narrowed", "Stopped"],
      ["exited", "Ended with exit code 2"],
      ["exited", "Ended with exit code 1"],
    ]);
  });
  it("that the server lists are there although their start was not loaded, until their end is read", () => {
    const listed = [{ job: "j-1", command: "npm run dev", mode: "workspace-write", cwd: "/", call: { turn: 1, step: 1, position: 0 }, startedAt: 5, state: "running" as const }];
    expect(runningJobs(allJobs({}, listed)).map((job) => job.command)).toEqual(["npm run dev"]);
    const end = fold(blank, [{ session: "s", seq: 900, time: 9, type: "job/ended", key: "job-ended:j-1", data: { job: "j-1", exitCode: 0, signal: null, reason: "exited" }, cursor: "1" }]);
    expect(runningJobs(allJobs(end.jobs, listed))).toEqual([]);
    expect(allJobs(end.jobs, listed)["j-1"]!.command).toBe("npm run dev");
  });
  it("are told from results in the foreground", () => {
    expect(jobOf({ kind: "background", jobId: "j-1" })).toBe("j-1");
    for (const value of [null, [], "j-1", { kind: "foreground" }, { kind: "background" }]) expect(jobOf(value)).toBe(null);
  });
});
