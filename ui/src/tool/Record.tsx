import type { ReactNode } from "react";
import { channelName, whoName } from "../ask/Seal";
import type { ToolCall } from "../session/fold";
import { VisibleText } from "../text/Visible";
import { Icon, type IconName } from "../theme/icons";
import type { Decision } from "../wire/shapes";
import { clock, shortDigest, span } from "../words/times";
import { useWords } from "../words/words";
import { type BashResult, sandboxOf } from "./result";

const Line = ({ hue, icon, meta, children }: { hue: string; icon: IconName; meta: ReactNode; children: ReactNode }) => (
  <div className={`rec c-${hue}`}>
    <Icon name={icon} />
    <div>{children}</div>
    <p className="meta">{meta}</p>
  </div>
);

const joined = (parts: (ReactNode | false | null | undefined)[]): ReactNode =>
  parts.filter(Boolean).map((part, index) => (
    <span key={index}>
      {index > 0 && " · "}
      {part}
    </span>
  ));

const Decided = ({ call, decision, bash }: { call: ToolCall; decision: Decision; bash: BashResult | null }) => {
  const words = useWords();
  const ask = call.asks.at(-1)!;
  const time = (
    <span key="t" className="num">
      {clock(decision.time)}
    </span>
  );
  const meta = joined([
    channelName(decision.channel, words),
    time,
    decision.who.kind === "person" && words.tool.decidedIn(span(decision.time - ask.time)),
    decision.outcome === "allowed-once" && <span className="mono">{shortDigest(decision.digest || ask.digest)}</span>,
    decision.feedback && words.tool.noteWent,
    bash?.durationMs != null && `${(bash.durationMs / 1000).toLocaleString(words.code, { maximumFractionDigits: 1 })} s`,
  ]);
  const who = (
    <b>
      <VisibleText text={whoName(decision, words)} />
    </b>
  );
  switch (decision.outcome) {
    case "allowed-once":
      return (
        <Line hue="allow" icon="pen" meta={meta}>
          <span className="verdict" lang="la">
            placet
          </span>{" "}
          {words.tool.allowedBy}
          {who}
          {ask.subject?.toMode === "danger-full-access" ? words.tool.withFull : ask.subject?.toMode === "workspace-write" ? words.tool.withWorkspace : ""}
          {call.result && !call.started && <> {words.tool.grantUnused}</>}
        </Line>
      );
    case "rejected":
      return (
        <Line hue="refuse" icon="cross" meta={meta}>
          {decision.who.kind === "policy" ? (
            words.tool.byPolicy
          ) : (
            <>
              <span className="verdict" lang="la">
                non placet
              </span>{" "}
              {words.tool.rejectedBy}
              {who}
              {decision.feedback && (
                <>
                  :{" "}
                  <q>
                    <VisibleText text={decision.feedback} />
                  </q>
                </>
              )}
            </>
          )}
        </Line>
      );
    case "cancelled":
      return (
        <Line hue="rest" icon="slash" meta={meta}>
          {words.tool.cancelledText} {decision.stoppedBy && <VisibleText text={`${words.said.stoppedBy(decision.stoppedBy)}.`} />}
        </Line>
      );
    default:
      return (
        <Line hue="rest" icon="unknown" meta={meta}>
          {words.tool.unavailableText} {decision.detail && (words.detail[decision.detail] ?? decision.detail)}
        </Line>
      );
  }
};

/** Who answered for this call, under which mode, and how it was confined. */
export const Record = ({ call, bash }: { call: ToolCall; bash: BashResult | null }) => {
  const words = useWords();
  const ask = call.asks.at(-1);
  const decision = ask && call.decisions[ask.id];
  if (decision) return <Decided call={call} decision={decision} bash={bash} />;
  const box = bash?.sandbox ?? sandboxOf(call.result?.value ?? null);
  if (ask || !call.started || (call.result?.isError && !box)) return null; // where nothing ran, nothing was confined
  const backend = box?.backend ?? "";
  const mode = box?.mode || call.started.mode;
  const enforced = box?.enforcement === "full" ? words.tool.enforcedFull(backend) : box?.enforcement === "partial" ? words.tool.enforcedPartial(backend) : null;
  const meta = joined([mode, enforced, bash && bash.exitCode !== null && bash.exitCode !== 0 && words.tool.exit(bash.exitCode), <span className="num">{clock(call.started.time)}</span>]);
  if (box?.denied)
    return (
      <Line hue="refuse" icon="denied" meta={meta}>
        {box.path === null ? (
          words.tool.refused
        ) : (
          <>
            {words.tool.refusedWrite}
            <code>
              <VisibleText text={box.path} reading="code" />
            </code>
            .
          </>
        )}
      </Line>
    );
  return (
    <Line hue="rest" icon={mode === "danger-full-access" ? "alert" : "shield"} meta={meta}>
      {mode === "danger-full-access" ? words.tool.inFull : words.tool.inSandbox}
    </Line>
  );
};
