/** A path with the home folder as `~`. */
export const homely = (path: string, home: string): string =>
  home && home !== "/" && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path;
