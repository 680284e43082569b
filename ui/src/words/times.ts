const two = (n: number) => String(n).padStart(2, "0");

/** Clock time on this machine, with seconds: 14:03:18. */
export const clock = (ms: number): string => {
  const date = new Date(ms);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
};

export const clockShort = (ms: number): string => clock(ms).slice(0, 5);

/** A span as people read it: 0:47, 18:06, 3:05:00. */
export const span = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
};

/** Today as clock time, this week as weekday, earlier as date. */
export const when = (ms: number, now: number, language: string): string => {
  const date = new Date(ms);
  const days = (new Date(now).setHours(0, 0, 0, 0) - new Date(ms).setHours(0, 0, 0, 0)) / 86_400_000;
  if (days < 1) return clockShort(ms);
  if (days < 7) return date.toLocaleDateString(language, { weekday: "short" });
  return date.toLocaleDateString(language, { day: "numeric", month: "short" });
};

/** "today 14:03:18", or the date before the clock. */
export const stamp = (ms: number, now: number, language: string, today: string): string => {
  const same = new Date(ms).toDateString() === new Date(now).toDateString();
  return `${same ? today : new Date(ms).toLocaleDateString(language, { day: "numeric", month: "short", year: "numeric" })} ${clock(ms)}`;
};

/** Twelve digits of a digest in three groups. */
export const shortDigest = (digest: string): string => `${digest.slice(0, 4)} ${digest.slice(4, 8)} ${digest.slice(8, 12)}`;
