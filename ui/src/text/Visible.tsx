import { Fragment, memo, useMemo } from "react";
import { useWords } from "../words/words";
import { type Line, type Piece, type Reading, type Visible, visible } from "./visible";

const Mark = ({ piece }: { piece: Piece }) => {
  const words = useWords();
  switch (piece.kind) {
    case "text":
      return <>{piece.raw}</>;
    case "tab":
      return (
        <span className="mk-tab" title={words.marks.tab}>
          {"\t"}
        </span>
      );
    case "mark":
      return (
        <span className="mk" title={piece.long}>
          {piece.short}
        </span>
      );
    case "blanks": {
      const word = piece.name === "space" ? words.ask.spaces : piece.name === "tab" ? words.ask.tabs : words.ask.blanks;
      return (
        <>
          {" "}
          <span className="mk">{word(piece.count)}</span>{" "}
        </>
      );
    }
    case "letter":
      return (
        <span className={piece.alike ? "mk-l" : "mk-f"} title={piece.long}>
          {piece.raw}
        </span>
      );
  }
};

/** What stands before a line of a difference: for the eye a sign, for the ear a word. */
const LineNumber = ({ line, sign }: { line: Line; sign: string | undefined }) => {
  const words = useWords();
  if (sign === undefined) return <span className="no" aria-hidden="true">{line.number}</span>;
  return (
    <span className="no">
      <span aria-hidden="true">{sign === "-" ? "\u2212" : sign}</span>
      {sign !== " " && <span className="vh">{sign === "-" ? words.ask.goes : words.ask.comes}</span>}
    </span>
  );
};

const look = (sign: string | undefined): string => (sign === "-" ? " del" : sign === "+" ? " add" : "");

const Row = memo(({ line, flagged, sign }: { line: Line; flagged: boolean; sign: string | undefined }) => {
  const words = useWords();
  if (line.lines > 1)
    return (
      <span className={`l folded${look(sign)}`} data-lines={line.lines} data-first={line.number}>
        <LineNumber line={line} sign={sign} />
        <span className="x">
          <span className="mk">{words.ask.blankLines(line.lines)}</span>
        </span>
      </span>
    );
  return (
    <span className={`${flagged ? "l flag" : "l"}${look(sign)}`}>
      <LineNumber line={line} sign={sign} />
      <span className="x">
        {line.pieces.map((piece, index) => (
          <Mark key={index} piece={piece} />
        ))}
      </span>
    </span>
  );
});

export interface CodeProps {
  shown: Visible;
  label: string;
  tall?: boolean;
  flagged?: ReadonlySet<number>;
  scrolls?: boolean;
  /** Part of what a person signs: its end must have been on screen. */
  signed?: boolean;
  /** Where the text is a difference: for each line whether it goes ("-"), comes ("+") or stays. */
  signs?: readonly string[] | null;
}

/** Numbered lines that wrap and are never cut; the region takes the keyboard where it scrolls. */
export const Code = memo(({ shown, label, tall = false, flagged, scrolls = false, signed = false, signs = null }: CodeProps) => (
  <pre
    className={`code${tall ? " tall" : ""}${shown.lineCount < 100 ? " one" : ""}`}
    role="group"
    aria-label={label}
    tabIndex={scrolls ? 0 : undefined}
    data-signed={signed ? "" : undefined}
  >
    {shown.lines.map((line, index) => (
      <Row key={line.number} line={line} flagged={flagged?.has(line.number) ?? false} sign={signs?.[index]} />
    ))}
  </pre>
));

/** Text in the flow, with marks for what would hide in it. */
export const VisibleText = memo(({ text, reading = "prose" }: { text: string; reading?: Reading }) => {
  const shown = useMemo(() => visible(text, reading), [text, reading]);
  return (
    <>
      {shown.lines.map((line, index) => (
        <Fragment key={line.number}>
          {index > 0 && "\n"}
          {line.lines > 1 ? "\n".repeat(line.lines - 1) : line.pieces.map((piece, at) => <Mark key={at} piece={piece} />)}
        </Fragment>
      ))}
    </>
  );
});
