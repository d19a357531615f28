// Queries of bots, routes, events and default agents. The live channel marks them as stale by their keys (api/live.ts).
import { queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";
import { detailQuery, listQuery, pageAfter } from "../../api/queries";

export const adapters = { ...listQuery("adapters", () => api.GET("/api/v1/adapters")), staleTime: Infinity };

export const bots = listQuery("bots", (cursor) => api.GET("/api/v1/bots", pageAfter(cursor)));

export const defaultAgents = listQuery("defaultAgents", (cursor) =>
  api.GET("/api/v1/default-agents", pageAfter(cursor)),
);

export const bot = (bot_id: string) =>
  detailQuery(["bots", bot_id], () => api.GET("/api/v1/bots/{bot_id}", { params: { path: { bot_id } } }));

export const addresses = (bot_id: string) =>
  queryOptions({
    queryKey: ["bots", bot_id, "addresses"],
    queryFn: () => answer(api.GET("/api/v1/bots/{bot_id}/addresses", { params: { path: { bot_id } } })),
  });

export const routes = (bot_id: string) =>
  detailQuery(["routes", bot_id], () => api.GET("/api/v1/bots/{bot_id}/routes", { params: { path: { bot_id } } }));

export const conversation = (conversation_id: string) =>
  queryOptions({
    queryKey: ["conversations", conversation_id],
    queryFn: () =>
      answer(api.GET("/api/v1/conversations/{conversation_id}", { params: { path: { conversation_id } } })),
  });

export const botEvents = (bot_id: string) =>
  queryOptions({
    queryKey: ["events", bot_id],
    queryFn: () => answer(api.GET("/api/v1/events", { params: { query: { bot_id, limit: 20 } } })),
    select: (page) => page.items,
  });
