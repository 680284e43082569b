import { useEffect, useState } from "react";
import { sha256hex } from "../wire/bytes";
import type { AskView, Json } from "../wire/shapes";

/** Canonical JSON of a value, RFC 8785: names sorted by UTF-16 code units, numbers and strings as ECMAScript writes them. */
export const canonical = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object")
    return `{${Object.keys(value)
      .sort()
      .map((name) => `${JSON.stringify(name)}:${canonical(value[name]!)}`)
      .join(",")}}`;
  return JSON.stringify(value);
};

export const digestOf = (subject: unknown): Promise<string> => sha256hex(canonical(subject as Json));

export type Match = "checking" | "same" | "different";

/** Whether the subject on this sheet is the one that the digest names: the page signs only what it can recompute. */
export const useDigest = (ask: AskView): Match => {
  const [match, setMatch] = useState<{ of: AskView["subject"]; match: Match }>({ of: ask.subject, match: "checking" });
  useEffect(() => {
    let live = true;
    digestOf(ask.subject).then(
      (digest) => live && setMatch({ of: ask.subject, match: digest === ask.digest ? "same" : "different" }),
      () => live && setMatch({ of: ask.subject, match: "different" }),
    );
    return () => {
      live = false;
    };
  }, [ask.subject, ask.digest]);
  return match.of === ask.subject ? match.match : "checking";
};
