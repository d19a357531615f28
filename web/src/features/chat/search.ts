// The session of a chat in its address.
export type ChatSearch = { session?: string };

export function chatSearch(search: Record<string, unknown>): ChatSearch {
  const name =
    typeof search.session === "string" || typeof search.session === "number"
      ? String(search.session).slice(0, 200)
      : "";
  return name ? { session: name } : {};
}

/** Returns the name of a new session, which is created by its first message. */
export function newSession(): string {
  return crypto.randomUUID().slice(0, 13);
}
