// Queries of skills. The live channel marks them as stale by their key (api/live.ts).
import { queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";
import { detailQuery, listQuery, pageAfter } from "../../api/queries";

export const skills = listQuery("skills", (cursor) => api.GET("/api/v1/skills", pageAfter(cursor)));

export const skill = (name: string) =>
  detailQuery(["skills", name], () => api.GET("/api/v1/skills/{name}", { params: { path: { name } } }));

export const file = (name: string, path: string) =>
  queryOptions({
    queryKey: ["skills", name, "file", path],
    queryFn: () => answer(api.GET("/api/v1/skills/{name}/files/{path}", { params: { path: { name, path } } })),
  });
