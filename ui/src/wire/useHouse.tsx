import { createContext, useContext, useRef, useSyncExternalStore } from "react";
import type { House } from "./house";
import type { HouseState } from "./state";

const Held = createContext<House | null>(null);
export const HouseProvider = Held.Provider;

export const useHouse = (): House => {
  const house = useContext(Held);
  if (!house) throw new Error("no house around this part of the page");
  return house;
};

/** Some parts of what the page knows; what changes in the others draws nothing anew. */
export const useHouseState = <K extends keyof HouseState>(...names: K[]): Pick<HouseState, K> => {
  const house = useHouse();
  const held = useRef<HouseState | null>(null);
  const look = (): HouseState => {
    const now = house.snapshot();
    if (!held.current || names.some((name) => now[name] !== held.current![name])) held.current = now;
    return held.current;
  };
  return useSyncExternalStore(house.subscribe, look);
};
