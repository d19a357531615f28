// Queries of the Box. Nothing announces its changes, so they are read again every few seconds while the page is open.
import { queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";

const REFRESH_MILLISECONDS = 5000;

export const status = queryOptions({
  queryKey: ["box", "status"],
  queryFn: () => answer(api.GET("/api/v1/box/status")),
  refetchInterval: REFRESH_MILLISECONDS,
});

export const sessions = queryOptions({
  queryKey: ["box", "sessions"],
  queryFn: () => answer(api.GET("/api/v1/box/sessions")),
  select: (page) => page.items,
  refetchInterval: REFRESH_MILLISECONDS,
});

export const failures = queryOptions({
  queryKey: ["box", "errors"],
  queryFn: () => answer(api.GET("/api/v1/box/errors")),
  select: (page) => page.items,
  refetchInterval: REFRESH_MILLISECONDS,
});

export const files = (session_id: string, path: string) =>
  queryOptions({
    queryKey: ["box", "files", session_id, path],
    queryFn: () =>
      answer(api.GET("/api/v1/box/sessions/{session_id}/files", { params: { path: { session_id }, query: { path } } })),
  });
