import { memo, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { Icon } from "../theme/icons";
import type { Config, Preset } from "../wire/shapes";
import { useWords } from "../words/words";
import { ConfirmJobs } from "../job/ConfirmJobs";
import type { JobName } from "../wire/types";
import { useHouseState } from "../wire/useHouse";
import { ConfirmFull } from "./ConfirmFull";
import { type Choice, Picker } from "./Picker";
import { References } from "./References";
import { type Reference, referenceAt, referencesFor } from "./references";

export interface ComposerProps {
  session: string;
  busy: boolean;
  stopping: boolean;
  online: boolean;
  permissions: { options: Preset[]; currentValue: string } | null;
  preset: string;
  model: string;
  config: Config | null;
  onSend: (text: string, steer: boolean) => void;
  onStop: () => Promise<boolean>;
  onPreset: (preset: string, confirm: boolean) => Promise<boolean | JobName[]>;
  onModel: (model: string) => void;
}

const FULL = "danger-full-access";
const draftName = (session: string) => `placet.draft.${session}`;

/** Where the person writes, and switches what the agent may touch. It stays live while an ask waits. */
export const Composer = memo((props: ComposerProps) => {
  const { session, busy, online, permissions, config } = props;
  const words = useWords();
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => sessionStorage.getItem(draftName(session)) ?? "");
  const [full, setFull] = useState(false);
  const [ending, setEnding] = useState<{ preset: string; jobs: JobName[] } | null>(null);
  const [stopping, setStopping] = useState(false);
  const [trouble, setTrouble] = useState("");
  const { plugins } = useHouseState("plugins");
  const listId = useId();
  const [caret, setCaret] = useState<number | null>(null);
  const [at, setAt] = useState(0);
  const word = caret === null ? null : referenceAt(text, caret);
  const found = word ? referencesFor(plugins, session, word.typed) : [];
  const chosen = Math.min(at, found.length - 1);

  const complete = (one: Reference) => {
    if (!word || caret === null) return;
    const end = word.from + one.id.length + 2;
    setText(`${text.slice(0, word.from)}@${one.id} ${text.slice(caret)}`);
    setCaret(null);
    requestAnimationFrame(() => area.current?.setSelectionRange(end, end));
  };
  /** True where the key was for the list. */
  const steer = (event: React.KeyboardEvent): boolean => {
    if (!found.length || event.nativeEvent.isComposing) return false;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") setAt((chosen + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length);
    else if (event.key === "Escape") setCaret(null);
    else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey) complete(found[chosen]!);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };

  useEffect(() => {
    if (text) sessionStorage.setItem(draftName(session), text);
    else sessionStorage.removeItem(draftName(session));
  }, [session, text]);
  useEffect(() => {
    if (!busy) setStopping(false);
  }, [busy]);
  useLayoutEffect(() => {
    const box = area.current;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, 240)}px`;
  }, [text]);

  const send = (steer: boolean) => {
    if (!text.trim() || !online) return;
    props.onSend(text, steer);
    setText("");
    setTrouble("");
  };
  const stop = async () => {
    setStopping(true);
    const done = await props.onStop();
    setTrouble(done ? "" : words.compose.stopFailed);
    if (!done) setStopping(false);
  };
  const pick = async (preset: string, confirm: boolean) => {
    const done = await props.onPreset(preset, confirm);
    if (Array.isArray(done)) setEnding({ preset, jobs: done });
    else setTrouble(done ? "" : words.compose.permissionFailed);
  };

  const now = permissions?.currentValue ?? props.preset;
  const presets: Choice[] = (permissions?.options ?? config?.presets ?? []).map((one) => ({ value: one.value, name: one.name, text: words.compose.presetText[one.value] ?? one.description ?? "" }));
  if (now === "custom" && !presets.some((one) => one.value === "custom")) presets.push({ value: "custom", name: words.compose.custom, text: words.compose.customText });
  const nowName = presets.find((one) => one.value === now)?.name ?? now;
  const models: Choice[] = (config?.models ?? []).map((one) => ({ value: one.name, name: one.real ? one.label : one.name, text: one.real ? "" : words.compose.notReal }));
  const modelNow = config?.models.find((one) => one.name === props.model);

  return (
    <form
      className="composer foot"
      aria-label={words.compose.label}
      data-region=""
      onSubmit={(event) => {
        event.preventDefault();
        send(busy);
      }}
    >
      {trouble && (
        <p className="hold" role="alert">
          <Icon name="alert" />
          <span>{trouble}</span>
        </p>
      )}
      <div className="box">
        {found.length > 0 && <References id={listId} found={found} at={chosen} onPick={complete} />}
        <label className="vh" htmlFor={id}>
          {words.compose.message}
        </label>
        <textarea
          id={id}
          ref={area}
          rows={1}
          value={text}
          placeholder={online ? (busy ? words.compose.placeholderBusy : words.compose.placeholderIdle) : words.compose.offline}
          aria-autocomplete={found.length ? "list" : undefined}
          aria-controls={found.length ? listId : undefined}
          aria-activedescendant={found.length ? `${listId}-${chosen}` : undefined}
          onChange={(event) => {
            setText(event.target.value);
            setCaret(event.target.selectionStart);
            setAt(0);
          }}
          onSelect={(event) => {
            const at = event.currentTarget.selectionStart; // the event has no target any more when React asks for the new state
            setCaret((old) => (old === null ? null : at));
          }}
          onBlur={() => setCaret(null)}
          onKeyDown={(event) => {
            if (steer(event)) return;
            if (event.key !== "Enter" || event.shiftKey || event.altKey || event.nativeEvent.isComposing || event.keyCode === 229) return;
            event.preventDefault();
            if (!event.repeat) send(busy);
          }}
        />
        <div className="bar">
          {presets.length > 0 && (
            <Picker
              label={words.compose.preset}
              now={now}
              name={nowName}
              icon={now === FULL ? "alert" : "shield"}
              disabled={!online}
              choices={presets}
              onPick={(value) => {
                if (value === now || value === "custom") return;
                if (value === FULL) setFull(true);
                else void pick(value, false);
              }}
            />
          )}
          {models.length > 0 && (
            <Picker
              label={words.compose.model}
              now={props.model}
              name={modelNow?.real ? modelNow.label : props.model}
              quiet
              disabled={!online}
              choices={models}
              onPick={(value) => value !== props.model && props.onModel(value)}
            />
          )}
          <div className="end">
            {busy && (
              <button type="button" className="btn small stop" disabled={stopping || props.stopping || !online} onClick={() => void stop()}>
                <Icon name="stop" />
                {stopping || props.stopping ? words.compose.stopping : words.compose.stop}
              </button>
            )}
            {busy && text.trim() && (
              <button type="button" className="btn small quiet hide-s later" title={words.compose.laterHint} disabled={!online} onClick={() => send(false)}>
                {words.compose.later}
              </button>
            )}
            <button type="submit" className="btn small ink" aria-disabled={!online || !text.trim() || undefined}>
              <Icon name="send" />
              {words.compose.send}
            </button>
          </div>
        </div>
      </div>
      <ConfirmJobs
        jobs={ending?.jobs ?? null}
        onStay={() => setEnding(null)}
        onSwitch={() => {
          const preset = ending!.preset;
          setEnding(null);
          void pick(preset, true);
        }}
      />
      <ConfirmFull
        open={full}
        now={nowName}
        onStay={() => setFull(false)}
        onSwitch={() => {
          setFull(false);
          void pick(FULL, true);
        }}
      />
    </form>
  );
});
