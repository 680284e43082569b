import type { ReactNode } from "react";
import { VisibleText } from "../text/Visible";
import type { Decision } from "../wire/shapes";
import { shortDigest, stamp } from "../words/times";
import { type Words, useWords } from "../words/words";

export const hueOf = (outcome: string) => (outcome === "allowed-once" ? "allow" : outcome === "rejected" ? "refuse" : "rest") as "allow" | "refuse" | "rest";
export const iconOf = (outcome: string) =>
  (outcome === "allowed-once" ? "pen" : outcome === "rejected" ? "cross" : outcome === "cancelled" ? "slash" : "unknown") as "pen" | "cross" | "slash" | "unknown";
const latin: Record<string, string> = { "allowed-once": "placet", rejected: "non placet" };

export const whoName = (decision: { who?: { name?: string; kind?: string } | null; stoppedBy?: string | null }, words: Words): string =>
  decision.stoppedBy ? decision.stoppedBy : decision.who?.kind === "policy" ? words.channel.policy! : decision.who?.name || words.somebody;
export const channelName = (channel: string, words: Words): string => words.channel[channel] ?? channel;

const ringPath: Record<string, string> = {
  "allowed-once": "M13 35c7-3 13-19 9.5-19.5-3.5-.4-3.5 20 1.5 20 4 0 4.5-9 8-9 2.8 0 .5 7.5 4 7.5 2.3 0 4-2.5 6.5-4",
  rejected: "m20 20 16 16m0-16L20 36",
  cancelled: "m18 38 20-20",
  unavailable: "M23 23c.8-5 10-5 10 1 0 4-5 4-5 8.500M28 37v.2",
};

interface RingProps {
  outcome: string;
  hue: "allow" | "refuse" | "rest";
  /** The outcome in the page's language; its Latin echo is drawn beside it where there is one. */
  word: string;
  children: ReactNode;
}

/** The drawn seal with the outcome's name; the record's lines go beside it. */
export const Ring = ({ outcome, hue, word, children }: RingProps) => (
  <div className={`seal c-${hue}`}>
    <svg className="ring" aria-hidden="true" viewBox="0 0 56 56">
      <circle cx="28" cy="28" r="26" strokeWidth="1.5" strokeDasharray={outcome === "allowed-once" ? undefined : "9 3"} />
      <circle cx="28" cy="28" r="22.5" strokeWidth=".75" />
      <path strokeWidth="2.4" strokeLinecap="round" strokeLinejoin="round" d={ringPath[outcome] ?? ""} />
    </svg>
    <div>
      <p className="verdict">
        {latin[outcome] && <span lang="la">{latin[outcome]}</span>}
        <b>{word}</b>
      </p>
      {children}
    </div>
  </div>
);

/** Who said so, where, when, and about which bytes. */
export const SignedBy = ({ decision, digest }: { decision: Pick<Decision, "who" | "channel" | "time"> & { stoppedBy?: string | null }; digest?: string }) => {
  const words = useWords();
  return (
    <p className="by">
      {words.ask.byWho}
      {whoName(decision, words)} · {channelName(decision.channel, words)} · <span className="num">{stamp(decision.time, Date.now(), words.code, words.time.today)}</span>
      {digest && (
        <>
          {" "}
          · {words.ask.digest}
          <span className="mono">{shortDigest(digest)}</span>
        </>
      )}
    </p>
  );
};

/** The record that takes the place of the two fields: outcome, who, where, when, about which bytes, and what came of it. */
export const Seal = ({ decision, children }: { decision: Decision; children?: ReactNode }) => {
  const words = useWords();
  const { outcome } = decision;
  return (
    <Ring outcome={outcome} hue={hueOf(outcome)} word={words.outcome[outcome] ?? outcome}>
      <SignedBy decision={decision} digest={decision.digest} />
      {decision.detail && (
        <p className="by">
          <VisibleText text={decision.stoppedBy ? words.said.stoppedBy(decision.stoppedBy) : (words.detail[decision.detail] ?? decision.detail)} />
        </p>
      )}
      {decision.feedback && (
        <p className="by">
          <q>
            <VisibleText text={decision.feedback} />
          </q>
        </p>
      )}
      <p className="came">{children}</p>
    </Ring>
  );
};
