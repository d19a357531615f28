// Queries of settings, users and API keys. The live channel marks them as stale by their keys (api/live.ts).
import { api } from "../../api/client";
import { detailQuery, listQuery } from "../../api/queries";

export const settings = detailQuery(["settings"], () => api.GET("/api/v1/settings"));

export const users = listQuery("users", () => api.GET("/api/v1/users"));

export const keys = listQuery("keys", () => api.GET("/api/v1/api-keys"));
