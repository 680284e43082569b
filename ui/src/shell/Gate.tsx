import { type ReactNode, useId, useState } from "react";
import { oneLine } from "../text/visible";
import { Icon, Wordmark } from "../theme/icons";
import type { PageKey } from "../wire/key";
import { redeem } from "../wire/link";
import { useWords } from "../words/words";

const Frame = ({ title, alert = false, children }: { title: string; alert?: boolean; children: ReactNode }) => (
  <main className="gate">
    <div className="gate-in">
      <Wordmark />
      <section className={alert ? "ask gate-sheet alarm" : "ask gate-sheet"} aria-labelledby="gate-title">
        <h1 className="ask-title" id="gate-title">
          {title}
        </h1>
        {children}
      </section>
    </div>
  </main>
);

interface LinkProps {
  /** The one-time secret of the link that was opened, or null where none was. */
  secret: string | null;
  revoked: boolean;
  onLinked: (key: PageKey) => void;
}

/** Nothing is registered by opening an address: a person signs this browser in, or does not. */
export const LinkGate = ({ secret, revoked, onLinked }: LinkProps) => {
  const words = useWords();
  const id = useId();
  const [code, setCode] = useState("");
  const [state, setState] = useState<"ask" | "busy" | "left" | "spent" | "unknown" | "failed" | "storage" | "refused">("ask");
  const [why, setWhy] = useState("");
  const [typed, setTyped] = useState(secret === null);
  const send = async () => {
    if (typed && !code.trim()) return;
    setState("busy");
    const outcome = await redeem(typed || secret === null ? { code: code.trim() } : { secret });
    if (outcome.kind === "linked") onLinked(outcome.key);
    else {
      setState(outcome.kind);
      if (outcome.kind === "refused") setWhy(outcome.why);
      if (outcome.kind === "spent" || outcome.kind === "unknown") setTyped(true);
    }
  };
  const trouble = state === "spent" ? words.link.spent : state === "unknown" ? words.link.unknown : state === "failed" ? words.link.failed : state === "storage" ? words.link.storage : state === "refused" ? `${words.link.refused} ${oneLine(why, 300)}` : null;

  if (!globalThis.isSecureContext || !crypto.subtle)
    return (
      <Frame title={words.link.codeTitle}>
        <p>{words.link.insecure}</p>
      </Frame>
    );
  if (state === "left")
    return (
      <Frame title={words.link.codeTitle}>
        <p>{words.link.left}</p>
      </Frame>
    );
  return (
    <Frame title={typed ? words.link.codeTitle : words.link.title}>
      {revoked && <p>{words.link.revoked}</p>}
      <p>{typed ? words.link.codeText : words.link.text}</p>
      {trouble && (
        <p className="hold" role="alert">
          <Icon name="alert" />
          <span>{trouble}</span>
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {typed && (
          <>
            <label htmlFor={id}>
              <b>{words.link.codeLabel}</b>
            </label>
            <input id={id} className="field mono" autoComplete="off" spellCheck={false} value={code} onChange={(event) => setCode(event.target.value)} />
          </>
        )}
        <div className="pair">
          {!typed && (
            <button type="button" className="btn" onClick={() => setState("left")}>
              {words.link.no}
            </button>
          )}
          <button type="submit" className="btn" disabled={state === "busy" || (typed && !code.trim())}>
            <Icon name="key" />
            {state === "busy" ? words.link.signing : words.link.yes}
          </button>
        </div>
      </form>
    </Frame>
  );
};

/** Something else answers at this address. Nothing signed is sent to it. */
export const Impostor = ({ onAgain, onForget }: { onAgain: () => void; onForget: () => void }) => {
  const words = useWords();
  return (
    <Frame title={words.impostor.title} alert>
      <p>{words.impostor.text}</p>
      <p className="sub">{words.impostor.what}</p>
      <div className="pair">
        <button type="button" className="btn" onClick={onAgain}>
          <Icon name="repeat" />
          {words.impostor.again}
        </button>
      </div>
      <details>
        <summary className="sub">{words.impostor.relink}</summary>
        <button type="button" className="link" onClick={onForget}>
          {words.impostor.forget}
        </button>
      </details>
    </Frame>
  );
};
