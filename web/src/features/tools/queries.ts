// Queries of tools and MCP servers. The live channel marks them as stale by their keys (api/live.ts).
import { api } from "../../api/client";
import { detailQuery, listQuery, pageAfter } from "../../api/queries";

export const tools = listQuery("tools", (cursor) => api.GET("/api/v1/tools", pageAfter(cursor)));

export const mcpServers = listQuery("mcp", (cursor) => api.GET("/api/v1/mcp-servers", pageAfter(cursor)));

export const mcpServer = (server_id: string) =>
  detailQuery(["mcp", server_id], () =>
    api.GET("/api/v1/mcp-servers/{server_id}", { params: { path: { server_id } } }),
  );
