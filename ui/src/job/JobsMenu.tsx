import { Button, Dialog, DialogTrigger, Popover } from "react-aria-components";
import { plain } from "../text/escaped";
import { oneLine } from "../text/visible";
import { Icon } from "../theme/icons";
import { span } from "../words/times";
import { useNow } from "../words/useNow";
import { useWords } from "../words/words";
import { StopJob, useJobs } from "./Job";
import { type Job, runningJobs } from "./jobs";

const Since = ({ job }: { job: Job }) => <span className="sub">{span(useNow() - job.since)}</span>;

/** How many commands run in the background, in the head of the session; the list has a way to end each. */
export const JobsMenu = () => {
  const words = useWords();
  const here = useJobs();
  const running = here ? runningJobs(here.jobs) : [];
  if (!running.length) return null;
  return (
    <DialogTrigger>
      <Button className="btn small jobs">
        <Icon name="tool" />
        {words.jobs.count(running.length)}
      </Button>
      <Popover className="pop" placement="bottom end">
        <Dialog className="joblist" aria-label={words.jobs.title}>
          <ul>
            {running.map((job) => {
              const command = oneLine(plain(job.command), 200);
              return (
                <li key={job.id}>
                  <code>{command}</code>
                  <span className="sub">{words.jobs.mode[job.mode] ?? job.mode}</span>
                  <Since job={job} />
                  <StopJob job={job} label={`${words.jobs.stop}: ${command}`} />
                </li>
              );
            })}
          </ul>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
};
