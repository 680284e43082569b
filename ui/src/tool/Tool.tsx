import { memo, useMemo } from "react";
import { formOf } from "../ask/form";
import { Seat, type ToolCardData } from "../half";
import type { ToolCall } from "../session/fold";
import { pluginCall } from "../plugin/call";
import { CallCard } from "../plugin/CallCard";
import { plain } from "../text/escaped";
import { Code, VisibleText } from "../text/Visible";
import { visible } from "../text/visible";
import { Status } from "../theme/icons";
import { span } from "../words/times";
import { useNow } from "../words/useNow";
import { useWords } from "../words/words";
import { JobPart, useJob } from "../job/Job";
import { jobOf, jobStatus } from "../job/jobs";
import { Appeared } from "./Appeared";
import { FormPart } from "./FormPart";
import { Output } from "./Output";
import { ownerOf } from "./owner";
import { Record } from "./Record";
import { bashResult, beside, callArguments } from "./result";
import { toolStatus } from "./status";
import { tall } from "./tall";

const Since = ({ since }: { since: number }) => <>, {span(useNow() - since)}</>;

/** One call in the conversation: what was asked for, what became of it, and who answered for it. */
export const Tool = memo(({ call, open, onAsk }: { call: ToolCall; open: boolean; onAsk?: (id: string) => void }) => {
  const words = useWords();
  const args = useMemo(() => callArguments(call.name, call.arguments ?? call.asks[0]?.subject.arguments ?? ""), [call.name, call.arguments, call.asks]);
  const text = args.command ?? args.raw;
  const shown = useMemo(() => visible(text), [text]);
  const form = useMemo(() => formOf(call.name, args.raw, {}), [call.name, args.raw]);
  const changes = form?.main?.kind !== "change" ? null : form.fields.some((field) => field.name === "replace_all" && field.text === "true") ? "often" : "once";
  const said = call.result && beside(call.result, changes);
  const bash = useMemo(() => bashResult(call.result?.value ?? null), [call.result]);
  const job = useJob(call);
  const status = job ? jobStatus(job, words) : toolStatus(call, words, open);
  const card = useMemo<ToolCardData>(
    () => ({ key: call.key, name: call.name, arguments: plain(call.arguments ?? ""), status: call.result ? (call.result.isError ? "failed" : "done") : "running", text: (call.result?.text ?? "").slice(0, 20_000), value: call.result?.value ?? null }),
    [call.key, call.name, call.arguments, call.result],
  );
  const owner = ownerOf(call.name);
  const whose = call.caller !== null ? words.tool.byPlugin(call.caller) : owner && words.tool.ofPlugin(owner);
  const waiting = call.asks.find((ask) => !call.decisions[ask.id]);
  const about = useMemo(() => pluginCall(call, args), [call, args]);
  if (about) return <CallCard call={call} about={about} status={status} record={call.asks.length > 0 && <Record call={call} bash={null} />} />;
  return (
    <article className="tool" aria-label={args.description ? `${call.name}: ${args.description}` : `${words.tool.call} ${call.name}`} data-call={call.key}>
      <header>
        <span className="name">
          <VisibleText text={call.name} reading="code" />
        </span>
        <span className="desc">
          {whose && <b>{whose} </b>}
          {args.description && <VisibleText text={args.description} />}
        </span>
        <Status hue={status.hue} icon={status.icon} spin={status.spin}>
          {status.word}
          {status.since !== undefined && <Since since={status.since} />}
        </Status>
      </header>
      {form ? (
        <FormPart form={form} raw={args.raw} />
      ) : text.trim() ? (
        <div className="cmd">
          <Code shown={shown} label={args.command === null ? words.tool.arguments : words.ask.command} tall={tall(shown)} scrolls={tall(shown)} />
        </div>
      ) : (
        call.arguments === null && <p className="fold">{words.tool.earlierCall}</p>
      )}
      <Seat
        name="tool.call.toolview"
        call={card}
        fallback={
          bash ? (
            <Output result={bash} />
          ) : (
            said &&
            !jobOf(call.result?.value ?? null) && (
              <pre className="out">
                <VisibleText text={said} />
              </pre>
            )
          )
        }
      />
      <Record call={call} bash={bash} />
      <Appeared call={call} />
      {job && <JobPart job={job} />}
      {waiting && onAsk && (
        <p className="fold">
          <button type="button" className="link" onClick={() => onAsk(waiting.id)}>
            {words.tool.openAsk}
          </button>
        </p>
      )}
    </article>
  );
});
