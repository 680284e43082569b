import { type ReactNode, memo } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import type { ToolCall } from "../session/fold";
import { VisibleText } from "../text/Visible";
import { Status } from "../theme/icons";
import type { PluginView } from "../wire/shapes";
import { useHouseState } from "../wire/useHouse";
import { type Words, useWords } from "../words/words";
import type { ToolStatus } from "../tool/status";
import { type PluginCall, runState } from "./call";
import { Half } from "./Code";
import { usePluginGestures } from "./gestures";
import type { HalfReading } from "./reading";
import { statusOf } from "./status";
import { Trouble } from "./Trouble";

interface CallCardProps {
  call: ToolCall;
  about: PluginCall;
  /** What the call itself has become. */
  status: ToolStatus;
  /** Who answered for it, where somebody was asked. */
  record: ReactNode;
}

const titleOf = (about: PluginCall, words: Words): string => {
  switch (about.kind) {
    case "define":
      return about.existing ? words.plugin.defineMore : words.plugin.defineNew;
    case "run":
      return about.mode === "update" ? words.plugin.updates : words.plugin.runs;
    default:
      return about.kind === "stop" ? words.plugin.stops : words.plugin.removes;
  }
};

/** One look for what became of the call: the run that it began goes on after the call is done. */
const lookOf = (about: PluginCall, call: ToolCall, status: ToolStatus, plugins: readonly PluginView[] | null, words: Words): ToolStatus => {
  if (!call.result || call.result.isError) return status;
  if (about.kind === "define") return { ...statusOf("defined", words), word: words.plugin.defined };
  if (about.kind !== "run" || about.run === null || plugins === null) return status;
  const state = runState(plugins, about.plugin, about.run);
  if (state === "removed") return { hue: "rest", icon: "slash", word: words.plugin.cardRemoved };
  if (state === "superseded") return { hue: "rest", icon: "repeat", word: words.plugin.cardSuperseded };
  return statusOf(state, words);
};

/** Both halves of a version as the agent wrote them, in tabs; to read only. */
export const CodeOf = memo(({ halves }: { halves: readonly HalfReading[] }) => {
  const words = useWords();
  return (
    <Tabs>
      <TabList className="tabs" aria-label={words.plugin.code}>
        {halves.map((half) => (
          <Tab id={half.name} key={half.name}>
            {words.plugin.half[half.name]}
            <span className="sub num">{words.plugin.lines(half.shown.lineCount)}</span>
          </Tab>
        ))}
      </TabList>
      {halves.map((half) => (
        <TabPanel id={half.name} className="tab" key={half.name}>
          <Half half={half} />
        </TabPanel>
      ))}
    </Tabs>
  );
});

/** What the call answered the agent; folded where the card tells the same to the person. */
const Answered = ({ text, folded }: { text: string; folded: boolean }) => {
  const words = useWords();
  const out = (
    <pre className="out">
      <VisibleText text={text} />
    </pre>
  );
  if (!folded) return out;
  return (
    <details className="answered">
      <summary className="sub">{words.plugin.answered}</summary>
      {out}
    </details>
  );
};

/** A call of a plugin tool in the conversation: what was defined or begun, and what has become of it. */
export const CallCard = ({ call, about, status, record }: CallCardProps) => {
  const words = useWords();
  const { plugins } = useHouseState("plugins");
  const ways = usePluginGestures();
  const look = lookOf(about, call, status, plugins, words);
  const plugin = plugins?.find((one) => one.plugin === about.plugin) ?? null;
  const pending = about.kind === "run" && plugin?.pending?.run === about.run ? plugin.pending : null;
  const failed = about.kind === "run" && plugin?.latest?.run === about.run && plugin?.latest?.error ? plugin.latest : null;
  const done = call.result !== null && !call.result.isError;
  const title = titleOf(about, words);
  return (
    <article className="tool" aria-label={`${title} ${about.plugin ?? ""}`} data-call={call.key}>
      <header>
        <span className="name">{call.name}</span>
        <span className="ids">
          {title}
          {about.plugin && <code>{about.plugin}</code>}
          {(about.kind === "define" || about.kind === "run") && about.package && <code>{about.package}</code>}
        </span>
        <Status hue={look.hue} icon={look.icon} spin={look.spin}>
          {look.word}
        </Status>
      </header>
      {about.kind === "define" && (
        <>
          <p className="about">
            <b>
              <VisibleText text={about.name} />
            </b>{" "}
            <VisibleText text={about.purpose} />
          </p>
          <div className="pcode">
            <CodeOf halves={about.halves} />
          </div>
        </>
      )}
      {failed?.error && <Trouble failed={{ phase: failed.phase ?? "", ...failed.error }} />}
      {call.result?.isError && <Answered text={call.result.text} folded={failed?.error != null} />}
      {done && (about.kind === "stop" || about.kind === "undefine") && <p className="fold">{about.kind === "stop" ? words.plugin.saidStopped : words.plugin.saidRemoved}</p>}
      {record}
      {ways && done && plugin && (
        <p className="fold pfold">
          {pending && (
            <button type="button" className="link" onClick={() => ways.decide(pending.run, plugin.session)}>
              {words.plugin.decide}
            </button>
          )}
          <button type="button" className="link" onClick={ways.openPanel}>
            {words.plugin.openPanel}
          </button>
        </p>
      )}
    </article>
  );
};
