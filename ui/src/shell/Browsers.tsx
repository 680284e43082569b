import { useEffect, useState } from "react";
import { oneLine } from "../text/visible";
import { Icon } from "../theme/icons";
import type { Browser } from "../wire/shapes";
import { useHouse, useHouseState } from "../wire/useHouse";
import { when } from "../words/times";
import { useWords } from "../words/words";

const Row = ({ browser, online }: { browser: Browser; online: boolean }) => {
  const house = useHouse();
  const words = useWords();
  const [asking, setAsking] = useState(false);
  const name = oneLine(browser.label, 80) || words.browsers.nameless;
  return (
    <li className="browser">
      <p>
        <b>{name}</b> {browser.current && <span className="st c-petrol">{words.browsers.thisOne}</span>}
        <span className="sub">
          {words.browsers.since(when(browser.linkedAt, Date.now(), words.code))} · <span className="mono">{browser.keyId.slice(0, 8)}</span>
        </span>
      </p>
      {asking ? (
        <div className="browser-sure" role="group" aria-label={words.browsers.signOutOf(name)}>
          <p className="sub">{browser.current ? words.browsers.sureThis : words.browsers.sure}</p>
          <button type="button" className="btn small" onClick={() => setAsking(false)} autoFocus>
            {words.browsers.keep}
          </button>
          <button type="button" className="btn small stop" disabled={!online} onClick={() => void house.signOut(browser.keyId)}>
            {words.browsers.signOut}
          </button>
        </div>
      ) : (
        <button type="button" className="btn small" aria-label={words.browsers.signOutOf(name)} disabled={!online} onClick={() => setAsking(true)}>
          {words.browsers.signOut}
        </button>
      )}
    </li>
  );
};

/** The browsers whose keys can read and answer here, and the way to end one. */
export const Browsers = () => {
  const house = useHouse();
  const { browsers, connection } = useHouseState("browsers", "connection");
  const words = useWords();
  const online = connection.state === "up";
  useEffect(() => {
    if (online) void house.loadBrowsers();
  }, [house, online]);
  return (
    <section aria-labelledby="set-browsers">
      <h3 className="set-h" id="set-browsers">
        <Icon name="screens" />
        {words.browsers.title}
      </h3>
      <p className="sub">{words.browsers.text}</p>
      {browsers ? (
        <ul className="browsers">
          {browsers.map((browser) => (
            <Row key={browser.keyId} browser={browser} online={online} />
          ))}
        </ul>
      ) : (
        <p className="sub" role="status">
          {online ? words.shell.loading : words.compose.offline}
        </p>
      )}
    </section>
  );
};
