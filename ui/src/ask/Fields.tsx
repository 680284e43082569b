import { useState } from "react";
import { Code, VisibleText } from "../text/Visible";
import { visible } from "../text/visible";
import { type Words, useWords } from "../words/words";
import type { Field, Form } from "./form";
import { Notes } from "./Notes";

/** The name of the text that a call is about. */
export const mainName = (form: Form, words: Words): string => (form.main?.kind === "change" ? words.ask.change : words.ask.newText);

const labelOf = (name: string, words: Words): string =>
  ({
    path: words.ask.fieldPath, pattern: words.ask.fieldPattern, glob: words.ask.fieldGlob, offset: words.ask.fieldOffset,
    limit: words.ask.fieldLimit, depth: words.ask.fieldDepth, replace_all: words.ask.fieldAll, ignore_case: words.ask.fieldCase,
    content: words.ask.newText, old_text: words.ask.fieldOld, new_text: words.ask.fieldNew,
    sandbox_permissions: words.ask.mode, justification: words.ask.why,
  })[name] ?? name;

/** The fields of a call, each under its name and whole; a long one as a text of its own. */
export const Fields = ({ fields, signed = false }: { fields: Field[]; signed?: boolean }) => {
  const words = useWords();
  return (
    <div className="data" data-signed={signed ? "" : undefined}>
      {fields.map(({ name, text, shown }) => (
        <div key={name} className="datum">
          <span className="sub">{labelOf(name, words)}</span>
          {shown.lineCount > 1 ? (
            <Code shown={shown} label={labelOf(name, words)} />
          ) : (
            <code>
              <VisibleText text={text} reading="code" />
            </code>
          )}
          <Notes shown={shown} flags={[]} />
        </div>
      ))}
    </div>
  );
};

/** The whole text that is signed, behind the reading of it. */
export const Sent = ({ raw }: { raw: string }) => {
  const words = useWords();
  const [open, setOpen] = useState(false);
  return (
    <details className="sent" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words.ask.asSent}</summary>
      {open && <Code shown={visible(raw)} label={words.ask.asSent} />}
    </details>
  );
};
