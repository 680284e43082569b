import type { PluginView } from "../wire/shapes";

export interface Reference {
  id: string;
  name: string;
  purpose: string;
}

/** The word before the caret that names a plugin, as far as it is written; null where there is none (M18). */
export const referenceAt = (text: string, caret: number): { from: number; typed: string } | null => {
  const found = /(?:^|[\s([{"'])@([a-z]{0,6}(?:-[0-9]{0,15})?)$/.exec(text.slice(Math.max(0, caret - 40), caret));
  return found ? { from: caret - found[1]!.length - 1, typed: found[1]! } : null;
};

/** The plugins of one session whose id or name begins with what is typed, each with the purpose of the version that a reference is about. */
export const referencesFor = (plugins: readonly PluginView[] | null, session: string, typed: string): Reference[] =>
  (plugins ?? [])
    .filter((one) => one.session === session && one.plugin !== typed && one.plugin.startsWith(typed))
    .slice(0, 8)
    .map((one) => {
      const base = one.packages.find((version) => version.package === (one.next ?? one.current)) ?? one.packages.at(-1);
      return { id: one.plugin, name: base?.name || one.name, purpose: base?.purpose || one.purpose };
    });
