import { createContext, useContext, useEffect, useState } from "react";
import { VisibleText } from "../text/Visible";
import { Icon } from "../theme/icons";
import type { ToolCall } from "../session/fold";
import type { JobOutput } from "../wire/types";
import { useWords } from "../words/words";
import { type Job, type Jobs, jobOf } from "./jobs";

/** The jobs of the session on screen, and what a person can do with them. */
export interface JobsHere {
  jobs: Jobs;
  online: boolean;
  read: (job: string, after: number) => Promise<JobOutput | null>;
  /** True where the job is over. */
  kill: (job: string) => Promise<boolean>;
}

const Here = createContext<JobsHere | null>(null);
export const JobsProvider = Here.Provider;
export const useJobs = (): JobsHere | null => useContext(Here);

export const useJob = (call: ToolCall): Job | null => {
  const id = jobOf(call.result?.value ?? null);
  const here = useContext(Here);
  return (id !== null && here?.jobs[id]) || null;
};

const AGAIN = 1500;
const KEPT = 64_000;

/** Ends one job; stays pressed until the log says that it is over. */
export const StopJob = ({ job, label }: { job: Job; label: string }) => {
  const words = useWords();
  const here = useContext(Here);
  const [state, setState] = useState<"" | "busy" | "failed">("");
  if (!here || job.ended) return null;
  const stop = async () => {
    setState("busy");
    setState((await here.kill(job.id)) ? "busy" : "failed");
  };
  return (
    <>
      <button type="button" className="btn small stop" disabled={state === "busy" || !here.online} aria-label={label} onClick={() => void stop()}>
        <Icon name="stop" />
        {state === "busy" ? words.compose.stopping : words.jobs.stop}
      </button>
      {state === "failed" && <span role="alert">{words.jobs.stopFailed}</span>}
    </>
  );
};

/** What a job writes, read while it is on screen; what was dropped is said. */
const Written = ({ job }: { job: Job }) => {
  const words = useWords();
  const here = useContext(Here);
  const read = here?.read;
  const [seen, setSeen] = useState<{ text: string; dropped: boolean; gone: boolean } | null>(null);
  const over = job.ended !== null;
  useEffect(() => {
    if (!read) return;
    let left = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let after = 0;
    let whole = "";
    let dropped = false;
    const look = async () => {
      const piece = await read(job.id, after);
      if (left) return;
      if (piece) {
        if (piece.dropped > 0 && piece.kept) dropped = true;
        after = piece.end;
        whole = (whole + piece.text).slice(-KEPT);
        setSeen({ text: whole, dropped, gone: !piece.kept });
      }
      if (piece && piece.more > 0) void look();
      else if (!over) timer = setTimeout(() => void look(), AGAIN);
    };
    void look();
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [read, job.id, over]);
  if (!seen) return null;
  return (
    <pre className="out tall">
      {seen.dropped && <span className="sub">{words.jobs.dropped}{"\n"}</span>}
      {seen.gone ? words.jobs.gone : seen.text ? <VisibleText text={seen.text} /> : words.jobs.silent}
    </pre>
  );
};

/** The part of a tool card that is about the job which the call has started. */
export const JobPart = ({ job }: { job: Job }) => {
  const words = useWords();
  const [shown, setShown] = useState(false);
  const why = job.ended && words.jobs.why[job.ended.reason];
  return (
    <>
      {shown && <Written job={job} />}
      <p className="fold job">
        <button type="button" className="link" aria-expanded={shown} onClick={() => setShown(!shown)}>
          {shown ? words.jobs.hide : words.jobs.show}
        </button>
        {why ? <span>{why}</span> : <span className="grow" />}
        <StopJob job={job} label={words.jobs.stop} />
      </p>
    </>
  );
};
