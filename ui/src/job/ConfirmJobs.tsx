import { Sheet } from "../shell/Sheet";
import { plain } from "../text/escaped";
import { oneLine } from "../text/visible";
import type { JobName } from "../wire/types";
import { useWords } from "../words/words";

/** A narrower preset ends jobs that run with more: they are named before it happens. */
export const ConfirmJobs = ({ jobs, onStay, onSwitch }: { jobs: JobName[] | null; onStay: () => void; onSwitch: () => void }) => {
  const words = useWords();
  return (
    <Sheet open={jobs !== null} onClose={onStay} title={words.jobs.endTitle} alert>
      <p>{words.jobs.endText}</p>
      <ul className="joblist">
        {(jobs ?? []).map((job) => (
          <li key={job.job}>
            <code>{oneLine(plain(job.command), 300)}</code>
            <span className="sub">{words.jobs.mode[job.mode] ?? job.mode}</span>
          </li>
        ))}
      </ul>
      <div className="pair">
        <button type="button" className="btn" onClick={onStay}>
          {words.jobs.endStay}
        </button>
        <button type="button" className="btn stop" onClick={onSwitch}>
          {words.jobs.endSwitch}
        </button>
      </div>
    </Sheet>
  );
};
