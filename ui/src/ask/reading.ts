import { plain } from "../text/escaped";
import { type Visible, oneLine, visible } from "../text/visible";
import { type CallArguments, callArguments } from "../tool/result";
import type { AskView } from "../wire/shapes";
import type { Words } from "../words/words";
import { type Flag, flagsOf } from "./flags";
import { type Form, formOf } from "./form";
import { type Reach, isLong } from "./reach";

export interface AskReading {
  call: CallArguments;
  /** The call as its fields, where placet knows them; null for commands and for what is shown as it was sent. */
  form: Form | null;
  /** The text that can be copied: the command, the new text of a file, or all that the model sent. */
  text: string;
  shown: Visible;
  flags: Flag[];
  files: { path: string; sha256: string; shown: Visible }[];
  long: boolean;
  empty: boolean;
  /** Anything that asks for a second look: flags, hidden or look-alike characters. */
  marked: boolean;
}

const cache = new WeakMap<object, AskReading>();

/** What a sheet shows of its subject, computed once for each. */
export const readingOf = (ask: AskView): AskReading => {
  const known = cache.get(ask.subject);
  if (known) return known;
  const call = callArguments(ask.subject.tool, ask.subject.arguments);
  const before = `escalate sandbox to ${ask.subject.toMode}: `;  // the log's own form of a reason
  const reason = ask.reason?.startsWith(before) ? ask.reason.slice(before.length) : ask.reason;
  const form = formOf(ask.subject.tool, call.raw, { sandbox_permissions: ask.subject.toMode, justification: reason });
  const text = call.command ?? form?.copied ?? call.raw;
  const shown = form ? (form.main?.shown ?? { ...visible(""), characters: text.length }) : visible(text);
  const all = [shown, ...(form?.fields.map((field) => field.shown) ?? [])];
  const files = ask.subject.files.map((file) => ({ path: plain(file.path), sha256: file.sha256, shown: visible(plain(file.text)) }));
  const flags = call.command === null ? [] : flagsOf(text);
  const reading: AskReading = {
    call, form, text, shown, flags, files,
    long: all.some((one) => isLong(one.lineCount, one.characters)) || files.some((file) => isLong(file.shown.lineCount, file.shown.characters)),
    empty: form === null && text.trim() === "",
    marked: flags.length > 0 || all.some((one) => one.hiddenCount > 0 || one.alike.length > 0 || one.blankRuns > 0 || one.blankLineRuns > 0),
  };
  cache.set(ask.subject, reading);
  return reading;
};

/** The number of the last line that has been on screen whole. */
export const seenLine = (reading: AskReading, reach: Reach): number => {
  const row = reading.shown.lines[Math.min(reach.rows, reading.shown.lines.length) - 1];
  return row ? row.number + row.lines - 1 : 0;
};

/** The sheet's title: a question in placet's own voice that names the change. Never a word of the agent's. */
export const titleOf = (ask: AskView, words: Words): string => {
  const { toMode } = ask.subject;
  const tool = oneLine(plain(ask.subject.tool), 80);
  const full = toMode === "danger-full-access";
  if (tool !== "bash") return full ? words.ask.titleToolFull(tool) : words.ask.titleTool(tool);
  if (full) return words.ask.titleFull;
  return toMode === "workspace-write" ? words.ask.titleWorkspace : words.ask.titleTool(tool);
};
