// Remembers that the session ended while the page was open.
import { useSyncExternalStore } from "react";

let over = false;
const watchers = new Set<() => void>();

function set(value: boolean): void {
  over = value;
  for (const watcher of watchers) watcher();
}

export const markSessionOver = () => set(true);
export const markSessionBack = () => set(false);

export function useSessionOver(): boolean {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => over,
  );
}
