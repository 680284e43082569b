import { memo, useMemo, useState } from "react";
import { ansiSpans } from "../text/ansi";
import { VisibleText } from "../text/Visible";
import { useWords } from "../words/words";
import type { BashResult } from "./result";

const FOLD = 14;

const Painted = memo(({ text, error }: { text: string; error: boolean }) => (
  <span className={error ? "err" : undefined}>
    {ansiSpans(text).map((span, index) =>
      span.role ? (
        <span key={index} className={`ansi-${span.role}`}>
          <VisibleText text={span.text} />
        </span>
      ) : (
        <VisibleText key={index} text={span.text} />
      ),
    )}
  </span>
));

const bytes = (n: number, language: string): string => (n < 10_000 ? `${n.toLocaleString(language)} B` : `${Math.round(n / 1024).toLocaleString(language)} KiB`);

/** A command's output, newest lines first to be seen; earlier ones on request, nothing lost without a word. */
export const Output = ({ result }: { result: BashResult }) => {
  const words = useWords();
  const [whole, setWhole] = useState(false);
  const parts = useMemo(
    () => [
      { error: false, text: result.stdout.text },
      { error: true, text: result.stderr.text },
    ].filter((part) => part.text),
    [result],
  );
  const lines = useMemo(() => parts.reduce((sum, part) => sum + part.text.replace(/\n$/, "").split("\n").length, 0), [parts]);
  const dropped = result.stdout.droppedBytes + result.stderr.droppedBytes;
  if (!parts.length) return null;
  const earlier = Math.max(0, lines - FOLD);
  let room = whole ? Infinity : FOLD;
  const shown = [...parts]
    .reverse()
    .map((part) => {
      const rows = part.text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
      const kept = room <= 0 ? [] : room === Infinity ? rows : rows.slice(-room);
      room -= kept.length;
      return { error: part.error, text: kept.join("\n") };
    })
    .reverse()
    .filter((part) => part.text);
  return (
    <>
      {earlier > 0 && (
        <p className="fold">
          <button type="button" className="link" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? words.tool.showLess : words.tool.showEarlier(earlier)}
          </button>
        </p>
      )}
      <pre className="out">
        {shown.map((part, index) => (
          <span key={part.error ? "e" : "o"}>
            {index > 0 && "\n"}
            <Painted text={part.text} error={part.error} />
          </span>
        ))}
      </pre>
      {dropped > 0 && <p className="fold">{words.tool.truncated(bytes(dropped, words.code))}</p>}
    </>
  );
};
