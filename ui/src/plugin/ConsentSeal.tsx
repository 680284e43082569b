import type { ReactNode } from "react";
import { Ring, SignedBy } from "../ask/Seal";
import { Ids } from "../text/Ids";
import { VisibleText } from "../text/Visible";
import { type Hue, type IconName, Status } from "../theme/icons";
import type { Consent, ConsentDecision, PluginView } from "../wire/shapes";
import { useWords } from "../words/words";
import { decisionWord } from "./answer";
import { runningBeside, statusOf } from "./status";

const outcomeOf = { consented: "allowed-once", declined: "rejected", cancelled: "cancelled" } as const;

export const decisionHue = (decision: ConsentDecision): Hue & ("allow" | "refuse" | "rest") => (decision.outcome === "consented" ? "allow" : decision.outcome === "declined" ? "refuse" : "rest");
export const decisionIcon = (decision: ConsentDecision): IconName => (decision.outcome === "consented" ? (decision.width === "future" ? "repeat" : "pen") : decision.outcome === "declined" ? "cross" : "slash");

/** The record that takes the place of the three fields: the answer, who gave it, and what follows from it. */
export const ConsentSeal = ({ consent, decision, plugin, children }: { consent: Consent; decision: ConsentDecision; plugin: PluginView | null; children?: ReactNode }) => {
  const words = useWords();
  const { outcome } = decision;
  const latest = plugin?.latest?.run === consent.run ? plugin.latest : null;
  const running = runningBeside(plugin, consent.package);
  const came = outcome === "consented" ? words.plugin.cameConsented : outcome === "declined" ? (running ? words.plugin.cameDeclinedRuns(consent.package, running) : words.plugin.cameDeclined(consent.package)) : words.plugin.cameCancelled;
  const status = outcome === "consented" && latest ? statusOf(latest.status, words) : null;
  return (
    <Ring outcome={outcomeOf[outcome]} hue={decisionHue(decision)} word={outcome === "consented" && decision.width !== "future" ? words.plugin.onlyThis(consent.package) : decisionWord(decision, words)}>
      {decision.who && decision.channel && <SignedBy decision={{ who: decision.who, channel: decision.channel, time: decision.time }} digest={decision.digest ?? consent.digest} />}
      {decision.detail && (
        <p className="by">
          <VisibleText text={words.plugin.detail[decision.detail] ?? words.detail[decision.detail] ?? decision.detail} />
        </p>
      )}
      {decision.feedback && (
        <p className="by">
          <q>
            <VisibleText text={decision.feedback} />
          </q>
        </p>
      )}
      <div className="came">
        {status && latest?.status !== "awaiting-approval" ? (
          <Status hue={status.hue} icon={status.icon} spin={status.spin}>
            {status.word}
          </Status>
        ) : (
          <span>
            <Ids text={came} />
          </span>
        )}
        {children}
      </div>
    </Ring>
  );
};
