// Queries of plugins. The live channel marks them as stale by their keys (api/live.ts).
import { queryOptions } from "@tanstack/react-query";

import { answer, api, versioned } from "../../api/client";
import { listQuery } from "../../api/queries";

export const plugins = listQuery("plugins", () => api.GET("/api/v1/plugins"));

export const bundled = listQuery("plugins-bundled", () => api.GET("/api/v1/plugins/bundled"));

export const pluginConfig = (id: string) => {
  const [author = "", name = ""] = id.split("/");
  return queryOptions({
    queryKey: ["plugins", "config", id],
    queryFn: () => versioned(api.GET("/api/v1/plugins/{author}/{name}/config", { params: { path: { author, name } } })),
  });
};

/** The pages of a plugin; they come and go with its status. */
export const pluginPages = (id: string, status: string) => {
  const [author = "", name = ""] = id.split("/");
  return queryOptions({
    queryKey: ["plugins", "pages", id, status],
    queryFn: () => answer(api.GET("/api/v1/plugins/{author}/{name}/pages", { params: { path: { author, name } } })),
    select: (page) => page.items,
  });
};

/** Which of them run changes without a frame of the live channel. */
export const pluginPrograms = (id: string) => {
  const [author = "", name = ""] = id.split("/");
  return queryOptions({
    queryKey: ["plugins", "programs", id],
    queryFn: () => answer(api.GET("/api/v1/plugins/{author}/{name}/programs", { params: { path: { author, name } } })),
    select: (page) => page.items,
    refetchInterval: 10_000,
  });
};

export const pluginLogs = (id: string) => {
  const [author = "", name = ""] = id.split("/");
  return queryOptions({
    queryKey: ["plugins", "logs", id],
    queryFn: () =>
      answer(
        api.GET("/api/v1/plugins/{author}/{name}/logs", { params: { path: { author, name }, query: { limit: 200 } } }),
      ),
    select: (page) => page.items,
  });
};
