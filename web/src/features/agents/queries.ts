// Queries of agents and runners. The live channel marks them as stale by their keys (api/live.ts).
import { queryOptions } from "@tanstack/react-query";

import { api } from "../../api/client";
import { detailQuery, fetchAllPages, listQuery, pageAfter } from "../../api/queries";

export const runners = listQuery("runners", () => api.GET("/api/v1/runners"));

export const agents = listQuery("agents", (cursor) => api.GET("/api/v1/agents", pageAfter(cursor)));

export const agent = (agent_id: string) =>
  detailQuery(["agents", agent_id], () => api.GET("/api/v1/agents/{agent_id}", { params: { path: { agent_id } } }));

/** What an agent remembers about people and chats. */
export const memories = (agent_id: string) =>
  queryOptions({
    queryKey: ["memories", agent_id],
    queryFn: () =>
      fetchAllPages((cursor) => api.GET("/api/v1/memories", { params: { query: { agent_id, limit: 100, cursor } } })),
  });
