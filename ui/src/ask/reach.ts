import { type RefObject, useEffect, useState } from "react";

export const LONG_LINES = 15;
export const LONG_CHARACTERS = 2000;
export const isLong = (lines: number, characters: number): boolean => lines > LONG_LINES || characters > LONG_CHARACTERS;

export interface Reach {
  /** Greatest part of the text that has been on screen, 0 to 1. */
  part: number;
  /** How many rows of the command have been on screen whole. */
  rows: number;
  /** The end of the text has been on screen. */
  text: boolean;
  /** The end of the whole sheet has been on screen. */
  sheet: boolean;
  /** More of the sheet lies below what is on screen now. */
  more: boolean;
}

const none: Reach = { part: 0, rows: 0, text: false, sheet: false, more: false };
const SLACK = 4;

/** How much of a region's lines lies above `bottom`, as the number of whole rows. */
const lastRow = (list: HTMLCollectionOf<Element> | NodeListOf<Element>, bottom: number): number => {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]!.getBoundingClientRect().bottom <= bottom + SLACK) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Follows how far a sheet has been shown. `identity` names the sheet; a new one begins anew. */
export const useReach = (body: RefObject<HTMLElement | null>, identity: string): Reach => {
  const [reach, setReach] = useState<Reach & { identity: string }>({ ...none, identity });

  useEffect(() => {
    const frame = body.current;
    if (!frame) return;
    let scheduled = 0;
    const look = () => {
      scheduled = 0;
      if (document.visibilityState !== "visible") return;
      const outer = frame.getBoundingClientRect();
      const bottom = Math.min(outer.bottom, innerHeight);
      if (outer.height < 1 || bottom <= outer.top) return;
      let part = 1;
      let rows = 0;
      let all = true;
      frame.querySelectorAll<HTMLElement>("[data-signed]").forEach((region) => {
        const own = region.getBoundingClientRect();
        const edge = Math.min(own.bottom, bottom);
        const last = region.lastElementChild?.getBoundingClientRect();
        const first = region.firstElementChild?.getBoundingClientRect();
        if (!last || !first) return;
        const shown = last.bottom <= edge + SLACK;
        const height = Math.max(1, last.bottom - first.top);
        part = Math.min(part, shown ? 1 : Math.max(0, Math.min(0.99, (edge - first.top) / height)));
        all &&= shown || region.dataset.shown === "yes";
        if (shown) region.dataset.shown = "yes";
        if (!rows) rows = lastRow(region.children as unknown as HTMLCollectionOf<Element>, edge);
      });
      const more = frame.scrollHeight - frame.scrollTop - frame.clientHeight > 12 || outer.bottom > innerHeight + 12;
      setReach((old) => {
        const base = old.identity === identity ? old : none;
        const next = { identity, part: Math.max(base.part, all ? 1 : part), rows: Math.max(base.rows, rows), text: base.text || all, sheet: base.sheet || !more, more };
        return old.identity === identity && next.part === old.part && next.rows === old.rows && next.text === old.text && next.sheet === old.sheet && next.more === old.more ? old : next;
      });
    };
    const soon = () => {
      scheduled ||= requestAnimationFrame(look);
    };
    frame.querySelectorAll<HTMLElement>("[data-signed]").forEach((region) => delete region.dataset.shown);
    soon();
    const watch = new ResizeObserver(soon);
    watch.observe(frame);
    for (const child of frame.children) watch.observe(child);
    addEventListener("scroll", soon, { capture: true, passive: true });
    addEventListener("resize", soon);
    document.addEventListener("visibilitychange", soon);
    return () => {
      cancelAnimationFrame(scheduled);
      watch.disconnect();
      removeEventListener("scroll", soon, { capture: true });
      removeEventListener("resize", soon);
      document.removeEventListener("visibilitychange", soon);
    };
  }, [body, identity]);

  return reach.identity === identity ? reach : none;
};

/** True where the page is too narrow for the ask beside the conversation. */
export const useNarrow = (): boolean => {
  const [narrow, setNarrow] = useState(() => matchMedia("(max-width: 64rem)").matches);
  useEffect(() => {
    const query = matchMedia("(max-width: 64rem)");
    const look = () => setNarrow(query.matches);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return narrow;
};
