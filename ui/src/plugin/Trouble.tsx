import { VisibleText } from "../text/Visible";
import { useWords } from "../words/words";

export interface Failed {
  phase: string;
  message: string;
  stack?: string | null;
  slot?: string | null;
  line?: number | null;
}

/** What went wrong in which half and when, in its own words, with the stack below. */
export const Trouble = ({ failed }: { failed: Failed }) => {
  const words = useWords();
  const { phase, message, stack, slot, line } = failed;
  return (
    <div className="perr">
      <p>
        <b>{words.plugin.phase[phase] ?? words.plugin.phaseOther}</b>
      </p>
      <pre tabIndex={message.split("\n").length > 8 ? 0 : undefined}>
        <VisibleText text={message} reading="prose" />
      </pre>
      {line != null && !message.includes("\n") && <p className="sub">{words.plugin.atLine(line)}</p>}
      {slot && (
        <p className="sub">
          <VisibleText text={words.plugin.inSeat(slot)} />
        </p>
      )}
      {stack && (
        <details>
          <summary className="sub">{words.plugin.stack}</summary>
          <pre tabIndex={0}>
            <VisibleText text={stack} reading="prose" />
          </pre>
        </details>
      )}
    </div>
  );
};
