import type { Visible } from "../text/visible";

/** Whether a text gets a region of its own to scroll in. */
export const tall = (shown: Visible): boolean => shown.lineCount > 15 || shown.characters > 2000;
