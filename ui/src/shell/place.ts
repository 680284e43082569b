import { useCallback, useEffect, useState } from "react";

export type Place = { page: "start" } | { page: "session"; id: string; ask: string | null } | { page: "inbox"; ask: string | null };

/** The place that an address names. Sessions and asks stand in the fragment, which no server ever sees. */
export const placeOf = (hash: string): Place => {
  const [kind, id, ask] = hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  if (kind === "session" && id) return { page: "session", id, ask: ask || null };
  if (kind === "inbox") return { page: "inbox", ask: id || null };
  return { page: "start" };
};

export const hashOf = (place: Place): string => {
  switch (place.page) {
    case "session":
      return `#/session/${encodeURIComponent(place.id)}${place.ask ? `/${encodeURIComponent(place.ask)}` : ""}`;
    case "inbox":
      return `#/inbox${place.ask ? `/${encodeURIComponent(place.ask)}` : ""}`;
    case "start":
      return "#/";
  }
};

export const usePlace = (): [Place, (place: Place, replace?: boolean) => void] => {
  const [place, setPlace] = useState<Place>(() => placeOf(location.hash));
  useEffect(() => {
    const read = () => setPlace(placeOf(location.hash));
    addEventListener("hashchange", read);
    addEventListener("popstate", read);
    return () => {
      removeEventListener("hashchange", read);
      removeEventListener("popstate", read);
    };
  }, []);
  const go = useCallback((next: Place, replace = false) => {
    const hash = hashOf(next);
    if (hash !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", hash);
    setPlace(next);
  }, []);
  return [place, go];
};
