/** A path with the home folder as `~`. */
export const homely = (path: string, home: string): string =>
  home && home !== "/" && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path;

/** A path for a narrow place: its end counts most, so the beginning gives way. The whole path stands in the title beside it. */
export const shortFolder = (path: string, home: string, longest: number): string => {
  const whole = homely(path, home);
  if (whole.length <= longest) return whole;
  const parts = whole.split("/");
  while (parts.length > 2 && parts.join("/").length + 2 > longest) parts.shift();
  const end = parts.join("/");
  return `…/${end.length + 2 > longest ? `…${end.slice(end.length - longest + 3)}` : end}`;
};
