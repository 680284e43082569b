import { useEffect, useState } from "react";
import { sha256hex } from "../wire/bytes";
import type { Json } from "../wire/shapes";

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

/** Whether what this sheet shows is what the digest names: the page signs only what it can recompute. `shown` keeps its identity while it is the same. */
export const useDigest = (shown: object, wanted: string): Match => {
  const [match, setMatch] = useState<{ of: object; match: Match }>({ of: shown, match: "checking" });
  useEffect(() => {
    let live = true;
    digestOf(shown).then(
      (digest) => live && setMatch({ of: shown, match: digest === wanted ? "same" : "different" }),
      () => live && setMatch({ of: shown, match: "different" }),
    );
    return () => {
      live = false;
    };
  }, [shown, wanted]);
  return match.of === shown ? match.match : "checking";
};
