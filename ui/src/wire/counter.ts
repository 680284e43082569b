const NAME = "placet.counter";
const TABS = 1000;

/** A number that no other tab of this browser has while this one lives: a lock that is held as long. */
const claimed = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const claim = (place: number): void => {
      const held = navigator.locks.request(`${NAME}-of-tab-${place}`, { ifAvailable: true }, (lock) => {
        if (!lock) return claim((place + 1) % TABS);
        resolve(place);
        return new Promise<void>(() => undefined);
      });
      held.catch(reject);
    };
    claim(0);
  });

let place: Promise<number> | null = null;
let last = 0;

/**
 * The next counter of this tab: rising, above anything used before the clock was set back, and never that of another tab.
 *
 * Tabs live in several processes, and what one of them stores is seen a moment later in the others. So a counter does not
 * lean on that: it is the time, and then the place of its tab.
 */
export const nextCounter = async (): Promise<number> => {
  place ??= claimed().catch((error: unknown) => {
    place = null;
    throw error;
  });
  const own = await place;
  const before = Math.max(last, Number(localStorage.getItem(NAME)) || 0);
  last = Math.max(Date.now(), Math.floor(before / TABS) + 1) * TABS + own;
  localStorage.setItem(NAME, String(last));
  return last;
};
