import { createContext, useContext, useSyncExternalStore } from "react";
import type { House } from "./house";
import type { HouseState } from "./state";

const Held = createContext<House | null>(null);
export const HouseProvider = Held.Provider;

export const useHouse = (): House => {
  const house = useContext(Held);
  if (!house) throw new Error("no house around this part of the page");
  return house;
};

export const useHouseState = (): HouseState => {
  const house = useHouse();
  return useSyncExternalStore(house.subscribe, house.snapshot);
};
