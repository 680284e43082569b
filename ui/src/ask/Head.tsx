import type { ReactNode } from "react";
import { Icon } from "../theme/icons";
import { span } from "../words/times";
import { useNow } from "../words/useNow";
import { useWords } from "../words/words";

/** Where a sheet lies among those that wait, and the way to its neighbours. */
export interface Queue {
  at: number;
  total: number;
  previous?: () => void;
  next?: () => void;
}

const Age = ({ since, until }: { since: number; until: number | null }) => {
  const words = useWords();
  const now = useNow(until === null);
  if (until !== null) return <p className="age">{words.ask.decidedAfter(span(until - since))}</p>;
  return (
    <p className="age">
      <span className="vh">{words.ask.waitedFor}</span>
      {span(now - since)}
    </p>
  );
};

/** The top line of a sheet: its state, its place in the queue, and how long it has waited. */
export const Head = ({ queue, since, until, children }: { queue: Queue | null; since: number; until: number | null; children: ReactNode }) => {
  const words = useWords();
  return (
    <header className="ask-head">
      {children}
      {queue && queue.total > 1 && (
        <div className="queue">
          <button type="button" className="icon-btn" aria-label={words.ask.previous} onClick={queue.previous} disabled={!queue.previous}>
            <Icon name="prev" />
          </button>
          <span>{words.ask.queueOf(queue.at, queue.total)}</span>
          <button type="button" className="icon-btn" aria-label={words.ask.next} onClick={queue.next} disabled={!queue.next}>
            <Icon name="next" />
          </button>
        </div>
      )}
      <Age since={since} until={until} />
    </header>
  );
};
