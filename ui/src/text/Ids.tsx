import { VisibleText } from "./Visible";

/** What placet calls plugins, versions and runs: a word of its own, so that nothing is judged apart from its neighbours. */
const ID = /(?<![\p{L}\p{N}\p{M}_-])([a-z]{3,6}-\d{1,15})(?![\p{L}\p{N}\p{M}_-])/u;

/** A text in which no id breaks at its hyphen, however narrow the place. */
export const Ids = ({ text }: { text: string }) =>
  text.split(ID).map((part, at) =>
    at % 2 ? (
      <span key={at} className="one-line">
        {part}
      </span>
    ) : (
      <VisibleText key={at} text={part} />
    ),
  );
