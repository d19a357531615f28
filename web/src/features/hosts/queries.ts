// Queries of Hosts and parts. Nothing announces their changes, so they are read again every few seconds while the page is
// open.
import { queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";

const REFRESH_MILLISECONDS = 2000;

export const hosts = queryOptions({
  queryKey: ["hosts", "list"],
  queryFn: () => answer(api.GET("/api/v1/hosts")),
  select: (page) => page.items,
  refetchInterval: REFRESH_MILLISECONDS,
});

export const parts = queryOptions({
  queryKey: ["hosts", "parts"],
  queryFn: () => answer(api.GET("/api/v1/parts")),
  select: (page) => page.items,
  refetchInterval: REFRESH_MILLISECONDS,
});
