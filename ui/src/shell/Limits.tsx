import { useState } from "react";
import { oneLine } from "../text/visible";
import { Icon } from "../theme/icons";
import type { Config } from "../wire/shapes";
import { useWords } from "../words/words";

/**
 * Said before the first command: that the model is not real, and what the sandbox of this machine does not hold. The
 * list can be folded; its headline stays.
 */
export const Limits = ({ config, model }: { config: Config; model: string }) => {
  const words = useWords();
  const [read, setRead] = useState(() => sessionStorage.getItem("placet.limits") === config.instance);
  const chosen = config.sandbox.backends.find((one) => one.name === config.sandbox.chosen);
  const gaps = chosen?.notGoverned ?? chosen?.not_governed ?? [];
  const weak = !chosen || chosen.enforcement !== "full";
  // The server tells rehearsal and sandbox limits as notices too; here they have their own places.
  const notices = config.notices.filter((one) => one.level !== "info" && !/rehearsal|sandbox|limits/.test(one.code));
  const remedy = config.notices.find((one) => one.code === "partial-sandbox");
  const rehearsal = model === "rehearsal" || (config.models.find((one) => one.name === model)?.real ?? true) === false;
  if (!rehearsal && !weak && !notices.length) return null;
  return (
    <section className="limits" aria-label={words.shell.toKnow}>
      {rehearsal && (
        <p className="limit c-petrol">
          <Icon name="eye" />
          <span>
            <b>{words.shell.rehearsal}</b> {model === "rehearsal" && <span className="hide-s">{words.shell.rehearsalMore}</span>}
          </span>
        </p>
      )}
      {weak && (
        <div className="limit c-wait">
          <Icon name="alert" />
          <details
            open={!chosen || !read}
            onToggle={(event) => {
              const closed = !event.currentTarget.open;
              sessionStorage.setItem("placet.limits", closed ? config.instance : "");
              setRead(closed);
            }}
          >
            <summary>
              <b>{!chosen ? words.shell.limitsNone : chosen.enforcement === "partial" ? words.shell.limits(chosen.name) : words.shell.limitsUntested(chosen.name)}</b>
            </summary>
            {remedy && <p>{oneLine(remedy.text, 400)}</p>}
            {gaps.length > 0 && (
              <ul tabIndex={0} aria-label={words.shell.toKnow}>
                {gaps.map((gap) => (
                  <li key={gap}>{oneLine(gap, 400)}</li>
                ))}
              </ul>
            )}
          </details>
        </div>
      )}
      {notices.map((notice) => (
        <p key={notice.code} className="limit c-wait">
          <Icon name="alert" />
          <span>{oneLine(notice.text, 400)}</span>
        </p>
      ))}
    </section>
  );
};
