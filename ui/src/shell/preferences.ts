export type Theme = "auto" | "light" | "dark" | "contrast";
export interface Preferences {
  theme: Theme;
  language: string | null;
  keys: boolean;
  /** A system notification for what begins to wait while the page is not in front. */
  notify: boolean;
}

const NAME = "placet.preferences";
const first: Preferences = { theme: "auto", language: null, keys: true, notify: false };

export const loadPreferences = (): Preferences => {
  try {
    return { ...first, ...(JSON.parse(localStorage.getItem(NAME) ?? "{}") as Partial<Preferences>) };
  } catch {
    return first; // unreadable preferences are no preferences
  }
};

export const savePreferences = (preferences: Preferences): void => localStorage.setItem(NAME, JSON.stringify(preferences));

export const applyTheme = (theme: Theme): void => {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
};
