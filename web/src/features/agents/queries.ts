// Queries of agents and runners. The live channel marks them as stale by their keys (api/live.ts).
import { api } from "../../api/client";
import { detailQuery, listQuery, pageAfter } from "../../api/queries";

export const runners = listQuery("runners", () => api.GET("/api/v1/runners"));

export const agents = listQuery("agents", (cursor) => api.GET("/api/v1/agents", pageAfter(cursor)));

export const agent = (agent_id: string) =>
  detailQuery(["agents", agent_id], () => api.GET("/api/v1/agents/{agent_id}", { params: { path: { agent_id } } }));
