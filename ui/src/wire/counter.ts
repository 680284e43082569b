const NAME = "placet.counter";

/** The next counter of this browser: strictly rising over all tabs, and above anything used before the storage was lost. */
export const nextCounter = (): Promise<number> =>
  navigator.locks.request(NAME, () => {
    const last = Number(localStorage.getItem(NAME)) || 0;
    const next = Math.max(last + 1, Date.now() * 1000);
    localStorage.setItem(NAME, String(next));
    return next;
  });
