import type { Subject } from "../wire/shapes";
import { useWords } from "../words/words";

const rungs = ["read-only", "workspace-write", "danger-full-access"];

/** The three modes as rungs: the one in force, and the one that this call alone would reach. */
export const Ladder = ({ subject }: { subject: Subject }) => {
  const words = useWords();
  const { fromMode, toMode } = subject;
  const from = rungs.indexOf(fromMode);
  const to = toMode === null ? -1 : rungs.indexOf(toMode);
  return (
    <div className="art row mode">
      <dt>{words.ask.mode}</dt>
      <dd>
        {from < 0 || to < 0 || toMode === null ? (
          <p>{toMode === null ? words.ask.modeSame(fromMode) : words.ask.modeChange(fromMode, toMode)}</p>
        ) : (
          <>
            <div className="ladder" role="img" aria-label={words.ask.modeChange(fromMode, toMode)}>
              <i className={`leap-${from + 1}${to + 1}`} />
              {rungs.map((rung, index) => (
                <span key={rung} className={index === from ? "rung now" : index === to ? `rung to${to === 1 ? " ws" : ""}` : "rung"}>
                  {rung}
                  {index === from && <small>{words.ask.now}</small>}
                  {index === to && <small>{words.ask.thisCallOnly}</small>}
                </span>
              ))}
            </div>
            <p className="plain">
              {from === 0 ? words.ask.fromReadOnly : words.ask.fromWorkspace}{" "}
              {to === 2 ? (
                <>
                  {words.ask.toFullBefore}
                  <b>{words.ask.toFullStrong}</b>
                  {words.ask.toFullAfter}
                </>
              ) : (
                words.ask.toWorkspace
              )}
              {to === 2 && (
                <>
                  {" "}
                  <b className="warn">{words.ask.changesPlacet}</b>
                </>
              )}
            </p>
          </>
        )}
      </dd>
    </div>
  );
};
