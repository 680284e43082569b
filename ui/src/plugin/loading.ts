import { useEffect, useMemo } from "react";
import { type HalfDoors, Halves, InvokeRefused } from "../half";
import { titleOfSession } from "../session/name";
import { Refused } from "../wire/client";
import type { House } from "../wire/house";
import type { PluginView } from "../wire/shapes";
import { useHouse } from "../wire/useHouse";
import { type Words, useWords } from "../words/words";

const activeRun = (house: House, plugin: string) => house.snapshot().plugins?.find((one) => one.plugin === plugin)?.activeRun ?? null;

/** What loaded halves need of the house: each door is about one exact run. */
export const doorsOf = (house: House, words: Words): HalfDoors => ({
  source: (plugin, run) => house.plugins.half(plugin, run),
  verdict: (plugin, verdict) => house.plugins.verdict(plugin, verdict),
  failure: (plugin, failure) => house.plugins.failure(plugin, failure),
  invoke: async (plugin, run, method, args) => {
    try {
      return await house.plugins.invoke(plugin, run, method, args);
    } catch (error) {
      throw error instanceof Refused ? new InvokeRefused(error.code, error.message) : error;
    }
  },
  active: (plugin, run) => activeRun(house, plugin)?.run === run,
  sessionState: (id) => {
    const summary = house.snapshot().sessions?.find((one) => one.id === id);
    return summary ? { id, title: titleOfSession(summary, words), status: summary.status, turn: summary.turn } : null;
  },
  watch: (listener) => {
    let last = house.snapshot().sessions;
    return house.subscribe(() => {
      const now = house.snapshot().sessions;
      if (now === last) return;
      last = now;
      listener();
    });
  },
});

export const halfRun = (plugin: PluginView, run: string, name: string) => ({ plugin: plugin.plugin, package: name, run, name: plugin.name, session: plugin.session });

/**
 * Loads what waits for a page, and throws away what is not the active run, for as long as it is not undone.
 *
 * It follows what the page knows and not what it draws, so that no drawing stands between the news and the half.
 */
export const keepInStep = (house: House, halves: Halves): (() => void) => {
  let last: readonly unknown[] = [];
  let asking = false;
  const look = (): void => {
    const { plugins, pluginsStale, consents, connection } = house.snapshot();
    const now = [plugins, pluginsStale, consents, connection];
    if (now.every((one, index) => one === last[index])) return;
    last = now;
    const asked = asking;
    asking = Object.values(consents).some((one) => one.state === "open");
    if (asking && !asked) halves.warm();
    if (plugins === null || pluginsStale || connection.state !== "up") return;
    halves.keepOnly(new Set(plugins.flatMap((one) => (one.activeRun ? [one.activeRun.run] : []))));
    for (const plugin of plugins) {
      const active = plugin.activeRun;
      if (active?.clientHalf && active.status === "client-pending") void halves.load({ ...halfRun(plugin, active.run, active.package), verdict: true });
    }
  };
  look();
  return house.subscribe(look);
};

/** The halves of this page. Nothing is loaded because it runs already: after a reload the person loads it by hand. */
export const useLoadedHalves = (): Halves => {
  const house = useHouse();
  const words = useWords();
  const halves = useMemo(() => new Halves(doorsOf(house, words)), [house]); // eslint-disable-line -- the words only name sessions
  useEffect(() => keepInStep(house, halves), [house, halves]);
  useEffect(() => () => halves.keepOnly(new Set()), [halves]);
  return halves;
};
