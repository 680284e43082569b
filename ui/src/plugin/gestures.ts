import { createContext, useContext } from "react";

/** The ways from a part of the page to the plugins: the panel, and the sheet of a request. */
export interface PluginGestures {
  openPanel: () => void;
  decide: (run: string, session: string) => void;
}

const Held = createContext<PluginGestures | null>(null);
export const PluginGesturesProvider = Held.Provider;
export const usePluginGestures = (): PluginGestures | null => useContext(Held);
