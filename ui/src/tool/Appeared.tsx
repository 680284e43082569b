import { createContext, useContext, useState } from "react";
import type { ToolCall } from "../session/fold";
import { plain } from "../text/escaped";
import { VisibleText } from "../text/Visible";
import { Icon } from "../theme/icons";
import { useWords } from "../words/words";
import { appearedOf } from "./result";

type Move = (path: string) => Promise<string | null>;

/** Moves a file of this session's folder away; tells what kept it from that, or null. */
const Moving = createContext<Move | null>(null);
export const MovingProvider = Moving.Provider;

/** What the call has made or changed and other programs of the person will run. Stands right below the call's record. */
export const Appeared = ({ call }: { call: ToolCall }) => {
  const words = useWords();
  const move = useContext(Moving);
  const [busy, setBusy] = useState<string | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const found = appearedOf(call.result?.meta ?? {});
  if (!found.things.length && !found.partly) return null;
  const away = async (path: string) => {
    setBusy(path);
    setRefused(await move!(path));
    setBusy(null);
  };
  return (
    <div className="rec c-wait appeared">
      <Icon name="alert" />
      <div>
        {found.things.length > 0 && (
          <>
            <b>{words.tool.appeared}</b>
            <ul>
              {found.things.map(({ path, kind, why }) => (
                <li key={path}>
                  <code>
                    <VisibleText text={plain(path)} reading="code" />
                  </code>
                  : {words.tool.runBy[kind] ?? why}
                  {call.moved.includes(path) ? (
                    <> · {words.tool.movedAway}</>
                  ) : (
                    move && (
                      <>
                        {" "}
                        <button type="button" className="link" disabled={busy !== null} onClick={() => void away(path)} aria-label={`${words.tool.moveAway}: ${plain(path)}`}>
                          {words.tool.moveAway}
                        </button>
                      </>
                    )
                  )}
                </li>
              ))}
            </ul>
          </>
        )}
        {found.more > 0 && <p>{words.tool.appearedMore(found.more)}</p>}
        {found.partly && <p>{words.tool.appearedPartly}</p>}
        {refused !== null && (
          <p role="alert">
            {words.tool.notMoved} <VisibleText text={refused} />
          </p>
        )}
      </div>
    </div>
  );
};
