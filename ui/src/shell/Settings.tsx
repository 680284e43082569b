import { Seat } from "../half";
import { useState } from "react";
import { Icon } from "../theme/icons";
import { languages, useWords } from "../words/words";
import { Browsers } from "./Browsers";
import { mayNotify } from "./Notifier";
import type { Preferences, Theme } from "./preferences";
import { Sheet } from "./Sheet";

const themes: Theme[] = ["auto", "light", "dark", "contrast"];

/** Theme, language and single keys, kept in this browser only; and the browsers that are signed in. */
export const Settings = ({ open, onClose, preferences, onChange }: { open: boolean; onClose: () => void; preferences: Preferences; onChange: (next: Preferences) => void }) => {
  const words = useWords();
  const [denied, setDenied] = useState(false);
  const notify = async (wanted: boolean) => {
    const may = !wanted || (await mayNotify());
    setDenied(!may);
    onChange({ ...preferences, notify: wanted && may });
  };
  return (
    <Sheet open={open} onClose={onClose} title={words.shell.settings}>
      <div className="form">
        <div>
          <p id="set-theme">
            <b>{words.shell.theme}</b>
          </p>
          <div className="seg" role="group" aria-labelledby="set-theme">
            {themes.map((theme) => (
              <button key={theme} type="button" aria-pressed={preferences.theme === theme} onClick={() => onChange({ ...preferences, theme })}>
                {words.shell.themes[theme]}
              </button>
            ))}
          </div>
        </div>
        <label>
          <b>{words.shell.language}</b>
          <select className="field" value={preferences.language ?? ""} onChange={(event) => onChange({ ...preferences, language: event.target.value || null })}>
            <option value="">{words.shell.languageAuto}</option>
            {Object.entries(languages).map(([code, one]) => (
              <option key={code} value={code} lang={code}>
                {one.languageName}
              </option>
            ))}
          </select>
        </label>
        <label className="chk">
          <input type="checkbox" checked={preferences.keys} onChange={(event) => onChange({ ...preferences, keys: event.target.checked })} /> {words.shell.singleKeys}
        </label>
        <div>
          <label className="chk">
            <input type="checkbox" checked={preferences.notify} onChange={(event) => void notify(event.target.checked)} /> {words.ask.notifyMe}
          </label>
          {denied && (
            <p className="hold" role="alert">
              <Icon name="alert" />
              <span>{words.ask.notifyDenied}</span>
            </p>
          )}
        </div>
        <Browsers />
        <Seat name="settings.section" />
        <div className="pair">
          <button type="button" className="btn" onClick={onClose}>
            {words.keys.close}
          </button>
        </div>
      </div>
    </Sheet>
  );
};

export const KeyList = ({ open, onClose }: { open: boolean; onClose: () => void }) => {
  const words = useWords();
  const rows: [string[], string][] = [
    [["?"], words.keys.list],
    [["G", "I"], words.keys.inbox],
    [["F6"], words.keys.region],
    [["[", "]"], words.keys.asks],
    [["J", "K"], words.keys.rows],
    [["Esc"], words.keys.leave],
  ];
  return (
    <Sheet open={open} onClose={onClose} title={words.shell.keyList}>
      <dl className="key-list">
        {rows.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p className="sub">{words.keys.none}</p>
      <div className="pair">
        <button type="button" className="btn" onClick={onClose}>
          {words.keys.close}
        </button>
      </div>
    </Sheet>
  );
};
