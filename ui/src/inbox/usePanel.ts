import { useEffect, useRef, useState } from "react";
import { useNarrow } from "../ask/reach";
import { useHouseState } from "../wire/useHouse";
import { type Matter, openMatters } from "./matters";

const KEPT = "placet.plugins";

/**
 * Whether the plugins are on screen. They stay over a reload, which is when "Load here" is looked for. They come by themselves when a request appears that no sheet on this desk shows (M6),
 * and leave when something comes to lie on the desk. Where they would cover what the person does, only the mark counts up.
 */
export const usePanel = (desk: "none" | "all" | { session: string }) => {
  const { asks, consents, consentTotal } = useHouseState("asks", "consents", "consentTotal");
  const narrow = useNarrow();
  const [open, setOpen] = useState(() => !narrow && sessionStorage.getItem(KEPT) === "open");
  const known = useRef<Set<string> | null>(null);
  const session = typeof desk === "object" ? desk.session : null;
  const inDesk = !narrow;
  useEffect(() => sessionStorage.setItem(KEPT, open && inDesk ? "open" : ""), [open, inDesk]);

  const lies = (one: Matter): boolean => desk === "all" || one.session === session;
  useEffect(() => {
    if (openMatters({ asks, consents }).some(lies)) setOpen(false); // a desk that is gone to shows what lies on it
  }, [desk === "all", session]); // eslint-disable-line -- only the way to another desk

  const read = consentTotal !== null;
  useEffect(() => {
    if (!read) return; // what waited before this page looked is not new
    const all = openMatters({ asks, consents });
    const fresh = all.filter((one) => known.current !== null && !known.current.has(one.id));
    known.current ??= new Set();
    for (const one of all) known.current.add(one.id);
    if (!fresh.length || !inDesk) return;
    if (fresh.some(lies)) setOpen(false);
    else if (fresh.some((one) => one.kind === "consent") && !all.some(lies)) setOpen(true);
  }, [read, asks, consents, desk, session, inDesk]);

  return { open, setOpen, inDesk };
};
