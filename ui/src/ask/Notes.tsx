import type { ReactNode } from "react";
import type { Visible } from "../text/visible";
import { Icon } from "../theme/icons";
import { useWords } from "../words/words";
import type { Flag } from "./flags";

const Note = ({ children }: { children: ReactNode }) => (
  <li>
    <Icon name="eye" />
    <span>{children}</span>
  </li>
);

/** Below a command: what is hidden in it, what looks like something else, and which lines deserve a second look. */
export const Notes = ({ shown, flags }: { shown: Visible; flags: Flag[] }) => {
  const words = useWords();
  const said = { download: words.ask.flagDownload, decoded: words.ask.flagDecoded, removes: words.ask.flagRemoves, admin: words.ask.flagAdmin };
  const alikeLines = [...new Set(shown.alike.map((one) => one.line))];
  const alikeLetters = [...new Map(shown.alike.map((one) => [one.letter, one.long])).entries()].slice(0, 8);
  if (!shown.hiddenCount && !shown.alike.length && !shown.foreign && !shown.blankRuns && !shown.blankLineRuns && !flags.length) return null;
  return (
    <ul className="flags">
      {shown.hiddenCount > 0 && (
        <Note>
          <b>{words.ask.hiddenShown(shown.hiddenCount)}</b>:{" "}
          {shown.hidden.slice(0, 12).map((one) => (
            <span key={one.short} className="hid">
              <span className="mk">{one.short}</span> {one.long}
              {one.count > 1 && ` ×${one.count}`}{" "}
            </span>
          ))}
          {shown.bidi && words.ask.bidiTurns} {shown.terminal && words.ask.terminalSteers}
        </Note>
      )}
      {shown.alike.length > 0 && (
        <Note>
          <b>{words.ask.alike(shown.alike.length)}</b>{" "}
          {words.ask.alikeWhere(alikeLetters.map(([letter, long]) => `${letter} (${long})`).join(", "), words.ask.lines(alikeLines.slice(0, 12).join(", "), alikeLines.length))}
        </Note>
      )}
      {shown.foreign > 0 && <Note>{words.ask.foreign(shown.foreign)}</Note>}
      {shown.blankRuns > 0 && <Note>{words.ask.blankRuns(shown.blankRuns, shown.longestBlankRun)}</Note>}
      {shown.blankLineRuns > 0 && <Note>{words.ask.blankLinesFolded(shown.longestBlankLineRun)}</Note>}
      {flags.map((flag) => (
        <Note key={`${flag.line} ${flag.kind}`}>
          {shown.lineCount > 1 && <b>{words.ask.lineFlag(flag.line)}: </b>}
          {said[flag.kind]}
        </Note>
      ))}
    </ul>
  );
};
