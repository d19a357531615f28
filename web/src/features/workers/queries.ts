// Queries of workers. Nothing announces their changes, so they are read again every few seconds while the page is open.
import { queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";

const REFRESH_MILLISECONDS = 5000;
const QUEUE_LIMIT = 200;

export const workers = queryOptions({
  queryKey: ["workers", "list"],
  queryFn: () => answer(api.GET("/api/v1/runtimes")),
  select: (page) => page.items,
  refetchInterval: REFRESH_MILLISECONDS,
});

/** The oldest runs of the queue; `next_cursor` says that there are more. */
export const queue = queryOptions({
  queryKey: ["workers", "queue"],
  queryFn: () => answer(api.GET("/api/v1/runtimes/queue", { params: { query: { limit: QUEUE_LIMIT } } })),
  refetchInterval: REFRESH_MILLISECONDS,
});
