import { useId, useLayoutEffect, useRef, useState } from "react";
import type { Drawn } from "./Mirror";

/** Where the caret belongs when a value was rewritten while it stood at `caret`: before the same rest of the text. */
export const caretAfter = (old: string, caret: number, next: string): number => {
  if (next.length === old.length) return caret;
  const rest = old.slice(caret);
  if (next.endsWith(rest)) return next.length - rest.length;
  return Math.min(caret, next.length);
};

/** A field whose value the half holds. Keys are never lost: until the half has seen the last one, the field shows its own text. */
export const TextFieldDrawing = ({ props, tell, listens, acknowledged, view }: Drawn) => {
  const { label, value, placeholder, multiline, disabled, className } = props as { label?: string; value?: string; placeholder?: string; multiline?: boolean; disabled?: boolean; className?: string };
  const id = useId();
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const name = label ?? placeholder ?? "";
  const [before] = useState(() => (view.typing?.label === name && acknowledged() < view.typing.event ? view.typing : null));
  const [typed, setTyped] = useState(before?.text ?? value ?? "");
  const sent = useRef(before?.event ?? 0);
  const composing = useRef(false);
  const held = useRef<{ text: string; caret: number }>(null);

  const waits = composing.current || acknowledged() < sent.current;
  const shown = value === undefined || waits ? typed : value;
  if (!waits && value !== undefined && typed !== value) setTyped(value);

  useLayoutEffect(() => {
    const box = field.current;
    const last = held.current;
    if (!box || !last || waits) return;
    held.current = null;
    if (last.text !== shown && document.activeElement === box) {
      const caret = caretAfter(last.text, last.caret, shown);
      box.setSelectionRange(caret, caret);
    }
  });

  const change = (text: string, caret: number): void => {
    setTyped(text);
    held.current = { text, caret };
    if (value === undefined || listens("onChange")) sent.current = tell("onChange", text) ?? sent.current;
    view.typing = { label: name, text, event: sent.current };
  };
  const shared = {
    id,
    ref: field,
    className: `field ${className ?? ""}`,
    value: shown,
    placeholder,
    disabled,
    maxLength: 20_000,
    autoComplete: "off",
    spellCheck: false,
    "aria-label": label ? undefined : placeholder,
    onChange: (event: React.ChangeEvent<HTMLInputElement & HTMLTextAreaElement>) => change(event.currentTarget.value, event.currentTarget.selectionStart ?? event.currentTarget.value.length),
    onCompositionStart: () => {
      composing.current = true;
    },
    onCompositionEnd: (event: React.CompositionEvent<HTMLInputElement & HTMLTextAreaElement>) => {
      composing.current = false;
      change(event.currentTarget.value, event.currentTarget.selectionStart ?? 0);
    },
    onKeyDown: (event: React.KeyboardEvent<HTMLElement>) => {
      if (event.key !== "Enter" || event.nativeEvent.isComposing || (multiline && !event.ctrlKey && !event.metaKey)) return;
      event.preventDefault();
      tell("onSubmit", shown);
    },
  };
  return (
    <div className="half-field">
      {label && <label htmlFor={id}>{label}</label>}
      {multiline ? <textarea {...shared} rows={3} /> : <input {...shared} type="text" />}
    </div>
  );
};
