// Queries of approvals. The live channel marks them as stale by their keys (api/live.ts).
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";

/** The approvals that are pending. */
export const approvals = queryOptions({
  queryKey: ["approvals", "waiting"],
  queryFn: () => answer(api.GET("/api/v1/approvals", { params: { query: { status: "pending", limit: 100 } } })),
  select: (page) => page.items,
});

export const approvalPages = (status?: "pending") =>
  infiniteQueryOptions({
    queryKey: ["approvals", "pages", status ?? "all"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      answer(api.GET("/api/v1/approvals", { params: { query: { status, limit: 50, cursor: pageParam } } })),
    getNextPageParam: (last) => last.next_cursor,
  });
