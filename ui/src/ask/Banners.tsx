import type { ReactNode } from "react";
import { Icon, type IconName } from "../theme/icons";
import type { Connection } from "../wire/stream";
import { clock } from "../words/times";
import { useNow } from "../words/useNow";
import { useWords } from "../words/words";
import type { Answering } from "./answering";

interface BannerProps {
  hue: string;
  icon: IconName;
  title: string;
  children: ReactNode;
}

/** Something is different about this sheet: said above it, with a sign, in one sentence and what it means. */
export const Banner = ({ hue, icon, title, children }: BannerProps) => (
  <div className={`banner c-${hue}`} role="note">
    <Icon name={icon} />
    <p>
      <b>{title}</b>
    </p>
    <p>{children}</p>
  </div>
);

/** The connection is gone: nothing can be answered, and when it is tried again. */
export const OfflineBanner = ({ connection, onRetry }: { connection: Connection; onRetry: () => void }) => {
  const words = useWords();
  const now = useNow(connection.state === "down");
  const seconds = connection.state === "down" ? Math.ceil((connection.retryAt - now) / 1000) : 0;
  return (
    <Banner hue="rest" icon="off" title={words.ask.offlineTitle(clock(connection.since))}>
      {seconds > 0 ? words.ask.offlineText(seconds) : words.ask.offlineTrying}{" "}
      <button type="button" className="link" onClick={onRetry}>
        {words.ask.tryNow}
      </button>
    </Banner>
  );
};

interface AnswerBannerProps<Said extends string, Past> {
  answering: Answering<Said, Past>;
  offline: boolean;
  onAgain: () => void;
  /** What the field is called that was pressed. */
  word: (said: Said) => string;
  /** Who was first, and with what. */
  lost: (decision: Past) => string;
}

/** What became of an answer that did not simply count. */
export function AnswerBanner<Said extends string, Past>({ answering, offline, onAgain, word, lost }: AnswerBannerProps<Said, Past>) {
  const words = useWords();
  switch (answering.state) {
    case "unknown":
      return (
        <Banner hue="wait" icon="unknown" title={words.ask.unknownTitle(word(answering.outcome))}>
          {words.ask.unknownText}{" "}
          <button type="button" className="link" onClick={onAgain} disabled={offline}>
            {words.ask.again}
          </button>
        </Banner>
      );
    case "not-recorded":
      return (
        <Banner hue="wait" icon="alert" title={words.ask.notRecordedTitle}>
          {words.ask.notRecordedText}
        </Banner>
      );
    case "refused":
      return (
        <Banner hue="wait" icon="alert" title={words.ask.refusedAnswerTitle(word(answering.outcome))}>
          {answering.stale ? words.ask.staleText : words.ask.refusedAnswerText(answering.why)}
        </Banner>
      );
    case "lost":
      return (
        <Banner hue="wait" icon="screens" title={words.ask.lostTitle(word(answering.outcome))}>
          {lost(answering.decision)}
        </Banner>
      );
    default:
      return null;
  }
}
