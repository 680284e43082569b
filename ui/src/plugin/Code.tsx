import { type ReactNode, memo, useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Notes } from "../ask/Notes";
import type { Reach } from "../ask/reach";
import { Code, VisibleText } from "../text/Visible";
import { useWords } from "../words/words";
import type { Step } from "./difference";
import { type ChangeReading, type CodeReading, type HalfReading, type Part, fileOf } from "./reading";

const Line = memo(({ step }: { step: Step }) => {
  const words = useWords();
  const look = step.sign === "+" ? " add" : step.sign === "-" ? " del" : "";
  return (
    <span className={`dl${look}`}>
      <span className="dn" aria-hidden="true">
        {step.number}
      </span>
      <span className="dm" aria-hidden="true">
        {step.sign === "-" ? "\u2212" : step.sign === "+" ? "+" : ""}
      </span>
      <span className="x">
        {step.sign !== " " && <span className="vh">{step.sign === "+" ? words.plugin.added : words.plugin.removed}</span>}
        <VisibleText text={step.line} reading="code" />
      </span>
    </span>
  );
});

/** What changed in both halves, by lines, with the numbers of either version. */
const Changes = memo(({ change }: { change: ChangeReading }) => {
  const words = useWords();
  if (!change.halves.length) return <p className="plain">{words.plugin.sameCode(change.since)}</p>;
  return (
    <pre className={`code diff${change.long ? " tall" : ""}`} role="group" aria-label={words.plugin.changesSince(change.since)} tabIndex={change.long ? 0 : undefined} data-signed="">
      {change.halves.flatMap(({ name, difference }) =>
        difference.hunks.flatMap((hunk, index) => [
          <span className="dl hunk" key={`${name}${index}`}>
            <span className="dn" />
            <span className="dm" />
            <span className="x">{words.plugin.hunk(fileOf[name], hunk.from, hunk.to)}</span>
          </span>,
          ...hunk.steps.map((step, at) => <Line key={`${name}${index}.${at}`} step={step} />),
        ]),
      )}
    </pre>
  );
});

const Copy = ({ text }: { text: string }) => {
  const words = useWords();
  const [done, setDone] = useState(false);
  return (
    <button type="button" className="link" onClick={() => void navigator.clipboard.writeText(text).then(() => setDone(true), () => setDone(false))}>
      {done ? words.ask.copied : words.ask.copy}
    </button>
  );
};

/** One half as a whole: numbered, never cut, with what hides in it named below. */
export const Half = ({ half, signed = false, meter }: { half: HalfReading; signed?: boolean; meter?: ReactNode }) => {
  const words = useWords();
  const { shown } = half;
  return (
    <>
      <Code shown={shown} label={`${words.plugin.half[half.name]}, ${fileOf[half.name]}`} tall={half.long} scrolls={half.long} signed={signed} />
      {meter}
      <p className="facts">
        <span>{words.ask.facts(shown.lineCount, shown.characters)}</span>
        {shown.hiddenCount === 0 && shown.alike.length === 0 && <span>{words.ask.noHidden}</span>}
        <span className="end">
          <Copy text={half.text} />
        </span>
      </p>
      <Notes shown={shown} flags={[]} />
    </>
  );
};

const Meter = ({ reach, lines, onEnd }: { reach: Reach; lines: number; onEnd: () => void }) => {
  const words = useWords();
  return (
    <div className={reach.text ? "reach done" : "reach"}>
      <i className="track" style={{ "--seen": reach.part } as React.CSSProperties} />
      <span>{reach.text ? words.ask.seenAll(lines) : words.ask.seenPart(Math.floor(reach.part * 100))}</span>
      <button type="button" className="link" onClick={onEnd} disabled={reach.text}>
        {words.ask.toTheEnd}
      </button>
    </div>
  );
};

interface CodeTabsProps {
  reading: CodeReading;
  part: Part;
  onPart: (part: Part) => void;
  /** Which parts have been on screen to their end. */
  shown: ReadonlySet<Part>;
  reach: Reach;
  onEnd: () => void;
}

/** The code that a person signs, in tabs: the change, the browser half, the host half. Only the tab on screen counts as shown. */
export const CodeTabs = ({ reading, part, onPart, shown, reach, onEnd }: CodeTabsProps) => {
  const words = useWords();
  const { change, halves } = reading;
  const left = (name: Part) => reading.needed.includes(name) && !shown.has(name);
  return (
    <Tabs selectedKey={part} onSelectionChange={(key) => onPart(key as Part)}>
      <TabList className="tabs" aria-label={words.plugin.code}>
        {change && (
          <Tab id="change">
            {words.plugin.changesSince(change.since)}
            <span className="sub num">
              +{change.added} −{change.removed}
            </span>
            {left("change") && <Unread />}
          </Tab>
        )}
        {halves.map((half) => (
          <Tab id={half.name} key={half.name}>
            {words.plugin.half[half.name]}
            <span className="sub num">{words.plugin.lines(half.shown.lineCount)}</span>
            {left(half.name) && <Unread />}
          </Tab>
        ))}
      </TabList>
      {change && (
        <TabPanel id="change" className="tab">
          <Changes change={change} />
          {change.long && <Meter reach={reach} lines={change.added + change.removed} onEnd={onEnd} />}
          <p className="facts">
            <span>{words.plugin.comparedWith(change.since)}</span>
          </p>
          {halves.filter(marked).map((half) => (
            <div className="flagged" key={half.name}>
              <p className="facts">{`${words.plugin.half[half.name]}, ${fileOf[half.name]}`}</p>
              <Notes shown={half.shown} flags={[]} />
            </div>
          ))}
        </TabPanel>
      )}
      {halves.map((half) => (
        <TabPanel id={half.name} className="tab" key={half.name}>
          <Half half={half} signed meter={half.long && <Meter reach={reach} lines={half.shown.lineCount} onEnd={onEnd} />} />
        </TabPanel>
      ))}
    </Tabs>
  );
};

/** True where something in a half hides, or passes for something else. */
const marked = ({ shown }: HalfReading): boolean => shown.hiddenCount > 0 || shown.alike.length > 0 || shown.blankRuns > 0 || shown.blankLineRuns > 0;

const Unread = () => {
  const words = useWords();
  return (
    <span className="unread" title={words.plugin.notShownYet}>
      <span className="vh">{words.plugin.notShownYet}</span>
    </span>
  );
};
