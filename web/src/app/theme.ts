// The theme: light, dark, or the one of the system. All components that show it are updated together.
import { useSyncExternalStore } from "react";

import { read, write } from "../lib/localStorage";

export type Theme = "light" | "dark" | "system";

let theme: Theme = (read("theme") as Theme | null) ?? "system";
const watchers = new Set<() => void>();

function choose(newTheme: Theme): void {
  theme = newTheme;
  write("theme", newTheme === "system" ? "" : newTheme);
  if (newTheme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = newTheme;
  for (const watcher of watchers) watcher();
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const current = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => theme,
  );
  return [current, choose];
}
