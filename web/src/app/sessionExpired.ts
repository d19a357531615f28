// Remembers that the session ended while the page was open.
import { useSyncExternalStore } from "react";

let expired = false;
const watchers = new Set<() => void>();

function set(value: boolean): void {
  expired = value;
  for (const watcher of watchers) watcher();
}

export const markSessionExpired = () => set(true);
export const markSessionRenewed = () => set(false);

export function useSessionExpired(): boolean {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => expired,
  );
}
