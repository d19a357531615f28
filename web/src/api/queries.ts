// Builders of queries, and the queries of the session. Each feature has its own in features/*/queries.ts. The live
// channel marks them as stale by their keys.
import { queryOptions } from "@tanstack/react-query";

import { answer, api, type Reply, type Versioned, versioned } from "./client";
import type { Me, Page } from "./types";

/** Reads all pages of a list that operators maintain by hand and that is therefore short. */
export async function fetchAllPages<Item>(
  read: (cursor: string | null) => Promise<Reply<Page<Item>>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await answer(read(cursor));
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return items;
}

export type VersionedQuery<T> = ReturnType<typeof queryOptions<Versioned<T>, Error, Versioned<T>, string[]>>;
/** Builds the query of one resource that can be changed, with its version. */
export const detailQuery = <T>(key: string[], read: () => Promise<Reply<T>>): VersionedQuery<T> =>
  queryOptions<Versioned<T>, Error, Versioned<T>, string[]>({ queryKey: key, queryFn: () => versioned(read()) });
export const pageAfter = (cursor: string | null) => ({ params: { query: { limit: 100, cursor } } });
export const listQuery = <Item>(key: string, read: (cursor: string | null) => Promise<Reply<Page<Item>>>) =>
  queryOptions({ queryKey: [key], queryFn: () => fetchAllPages(read) });

export const setup = queryOptions({
  queryKey: ["setup"],
  queryFn: () => answer(api.GET("/api/v1/auth/setup")),
});
export const me = queryOptions({
  queryKey: ["me"],
  queryFn: async (): Promise<Me> => {
    const me = await answer(api.GET("/api/v1/auth/me"));
    if (me.kind === "key") throw new Error("the page needs a session, not an API key");
    return me;
  },
  retry: false,
  staleTime: Infinity,
});
export const info = queryOptions({
  queryKey: ["info"],
  queryFn: () => answer(api.GET("/api/v1/info")),
  staleTime: Infinity,
});
