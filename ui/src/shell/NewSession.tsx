import { useId, useRef, useState } from "react";
import { Icon } from "../theme/icons";
import { newKey } from "../wire/key";
import { useHouse, useHouseState } from "../wire/useHouse";
import { homely } from "../words/folder";
import { useWords } from "../words/words";
import { ConfirmFull } from "../composer/ConfirmFull";
import { Sheet } from "./Sheet";

const FULL = "danger-full-access";

/** A new session: the folder, what the agent may touch there, and the first message. */
export const NewSession = ({ open, onClose, onMade }: { open: boolean; onClose: () => void; onMade: (id: string) => void }) => {
  const words = useWords();
  return (
    <Sheet open={open} onClose={onClose} title={words.fresh.title} wide>
      <Fields onClose={onClose} onMade={onMade} />
    </Sheet>
  );
};

const Fields = ({ onClose, onMade }: { onClose: () => void; onMade: (id: string) => void }) => {
  const house = useHouse();
  const { config, sessions } = useHouseState("config", "sessions");
  const words = useWords();
  const ids = { cwd: useId(), message: useId(), list: useId() };
  const home = config?.home ?? "";
  const [cwd, setCwd] = useState(homely(config?.suggestedCwd ?? sessions?.[0]?.cwd ?? "", home));
  const [preset, setPreset] = useState(config?.defaultPreset ?? "workspace-write");
  const [message, setMessage] = useState("");
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState("");
  const [asking, setAsking] = useState(false);
  const key = useRef(newKey());

  const typed = cwd.trim();
  const folder = typed === "~" || typed.startsWith("~/") ? home + typed.slice(1) : typed;
  const start = async () => {
    setBusy(true);
    setTrouble("");
    const made = await house.create({ cwd: folder, preset, message: message.trim() || undefined, key: key.current });
    setBusy(false);
    if ("session" in made) onMade(made.session.id);
    else {
      setTrouble(made.refused || words.compose.offline);
      if (made.refused) key.current = newKey();
    }
  };
  const folders = [...new Set((sessions ?? []).map((one) => one.cwd))];
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!cwd.trim() || busy) return;
        if (preset === FULL) setAsking(true);
        else void start();
      }}
    >
      <div>
        <label htmlFor={ids.cwd}>
          <b>{words.fresh.folder}</b>
        </label>
        <input id={ids.cwd} className="field mono" list={ids.list} value={cwd} onChange={(event) => setCwd(event.target.value)} autoComplete="off" spellCheck={false} aria-describedby={`${ids.cwd}-hint`} />
        <datalist id={ids.list}>
          {folders.map((folder) => (
            <option key={folder} value={folder}>
              {homely(folder, home)}
            </option>
          ))}
        </datalist>
        <p className="sub" id={`${ids.cwd}-hint`}>
          {config?.suggestedIsNew && folder === config.suggestedCwd && <b>{words.fresh.folderNew} </b>}
          {words.fresh.folderHint}
        </p>
      </div>
      <fieldset className="choices">
        <legend>
          <b>{words.fresh.preset}</b>
        </legend>
        {(config?.presets ?? []).map((one) => (
          <label key={one.value} className="choice">
            <input type="radio" name="preset" value={one.value} checked={preset === one.value} onChange={() => setPreset(one.value)} />
            <span>
              <b>{one.name}</b>
              <span className="sub">{words.compose.presetText[one.value] ?? one.description}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {preset === FULL && (
        <p className="hold">
          <Icon name="alert" />
          <span>{words.fresh.fullNote}</span>
        </p>
      )}
      <div>
        <label htmlFor={ids.message}>
          <b>{words.fresh.message}</b>
        </label>
        <textarea id={ids.message} className="field" rows={3} value={message} onChange={(event) => setMessage(event.target.value)} aria-describedby={`${ids.message}-hint`} />
        <p className="sub" id={`${ids.message}-hint`}>
          {words.fresh.messageHint}
        </p>
      </div>
      {trouble && (
        <p className="hold" role="alert">
          <Icon name="alert" />
          <span>{trouble}</span>
        </p>
      )}
      <div className="pair">
        <button type="button" className="btn" onClick={onClose}>
          {words.fresh.back}
        </button>
        <button type="submit" className="btn ink" disabled={busy || !cwd.trim()}>
          {busy ? words.fresh.starting : words.fresh.start}
        </button>
      </div>
      <ConfirmFull
        open={asking}
        now={config?.presets.find((one) => one.value === config.defaultPreset)?.name ?? "workspace-write"}
        onStay={() => {
          setAsking(false);
          setPreset(config?.defaultPreset ?? "workspace-write");
        }}
        onSwitch={() => {
          setAsking(false);
          void start();
        }}
      />
    </form>
  );
};
