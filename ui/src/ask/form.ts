import { type Visible, visible } from "../text/visible";
import type { Json } from "../wire/shapes";
import { type Sign, changeOf } from "./change";

export interface Field {
  name: string;
  text: string;
  shown: Visible;
}
/** A call as a person reads it: its fields, and the text that it is about, if it is about one. */
export interface Form {
  fields: Field[];
  main: { kind: "text" | "change"; shown: Visible; signs: Sign[] | null; empty: boolean } | null;
  /** What a copy is of. */
  copied: string;
}

const KNOWN: { [tool: string]: string[] } = {
  read_file: ["path", "offset", "limit"],
  write_file: ["path", "content"],
  edit_file: ["path", "old_text", "new_text", "replace_all"],
  list_files: ["path", "depth"],
  search_files: ["pattern", "path", "glob", "ignore_case"],
};
const WIDER = ["sandbox_permissions", "justification"];

/**
 * The form of a call of one of placet's own file tools; null for everything else, which is shown as it was sent.
 *
 * Every value of the call is in it, but for those in `elsewhere`: a name, and the text that stands in another article.
 */
export const formOf = (tool: string, raw: string, elsewhere: { [name: string]: string | null }): Form | null => {
  const known = Object.hasOwn(KNOWN, tool) ? KNOWN[tool]! : null;
  const values = known && objectOf(raw);
  if (!known || !values || !values.every(([name, value]) => plainly(name, value, known))) return null;
  const given = new Map(values);
  const text = (name: string) => given.get(name) as string;
  const taken = new Set(Object.entries(elsewhere).flatMap(([name, value]) => (value !== null && given.get(name) === value ? [name] : [])));
  let main: Form["main"] = null;
  if (tool === "write_file" && given.has("content")) {
    main = { kind: "text", shown: visible(text("content")), signs: null, empty: text("content") === "" };
    taken.add("content");
  }
  if (tool === "edit_file" && given.has("old_text") && given.has("new_text")) {
    main = { kind: "change", ...changeOf(text("old_text"), text("new_text")), empty: false };
    taken.add("old_text").add("new_text");
  }
  const names = [...known, ...WIDER].filter((name) => given.has(name) && !taken.has(name));
  const fields = names.map((name) => {
    const value = String(given.get(name));
    return { name, text: value, shown: visible(value) };
  });
  return { fields, main, copied: main?.kind === "text" ? text("content") : raw };
};

const objectOf = (raw: string): [string, Json][] | null => {
  try {
    const value = JSON.parse(raw) as Json;
    return value !== null && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : null;
  } catch {
    return null;
  }
};

const LOGICAL = new Set(["replace_all", "ignore_case"]);
const COUNTED = new Set(["offset", "limit", "depth"]);
/** Whether the value is of the kind that placet takes there, so that what is shown is what was sent. */
const plainly = (name: string, value: Json, known: string[]): boolean => {
  if (!known.includes(name) && !WIDER.includes(name)) return false;
  if (LOGICAL.has(name)) return typeof value === "boolean";
  return COUNTED.has(name) ? Number.isSafeInteger(value) : typeof value === "string";
};
