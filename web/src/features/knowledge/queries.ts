// Queries of knowledge bases. The live channel marks them as stale by their keys (api/live.ts).
import { queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";
import { detailQuery, fetchAllPages, listQuery, pageAfter } from "../../api/queries";

export const bases = listQuery("knowledge", (cursor) => api.GET("/api/v1/knowledge-bases", pageAfter(cursor)));

export const base = (kb_id: string) =>
  detailQuery(["knowledge", kb_id], () => api.GET("/api/v1/knowledge-bases/{kb_id}", { params: { path: { kb_id } } }));

export const stores = queryOptions({
  queryKey: ["knowledge-stores"],
  queryFn: async () => (await answer(api.GET("/api/v1/knowledge-stores"))).items,
});

export const engines = queryOptions({
  queryKey: ["knowledge-engines"],
  queryFn: async () => (await answer(api.GET("/api/v1/knowledge-engines"))).items,
});

export const parsers = queryOptions({
  queryKey: ["knowledge-parsers"],
  queryFn: async () => (await answer(api.GET("/api/v1/knowledge-parsers"))).items,
});

/** The newest files; a base may have thousands, so further ones are read on request. */
export const files = (kb_id: string, pages: number) =>
  queryOptions({
    queryKey: ["knowledge", kb_id, "files", String(pages)],
    queryFn: async () => {
      const items = [];
      let cursor: string | null = null;
      for (let page = 0; page < pages; page++) {
        const part: Awaited<ReturnType<typeof readFiles>> = await readFiles(kb_id, cursor);
        items.push(...part.items);
        cursor = part.next_cursor;
        if (!cursor) break;
      }
      return { items, more: cursor !== null };
    },
  });

const readFiles = (kb_id: string, cursor: string | null) =>
  answer(
    api.GET("/api/v1/knowledge-bases/{kb_id}/files", {
      params: { path: { kb_id }, query: { limit: 100, cursor } },
    }),
  );

export const file = (kb_id: string, file_id: string) =>
  queryOptions({
    queryKey: ["knowledge", kb_id, "file", file_id],
    queryFn: () =>
      answer(api.GET("/api/v1/knowledge-bases/{kb_id}/files/{file_id}", { params: { path: { kb_id, file_id } } })),
  });

export const chunks = (kb_id: string, file_id: string) =>
  queryOptions({
    queryKey: ["knowledge", kb_id, "chunks", file_id],
    queryFn: () =>
      fetchAllPages((cursor) =>
        api.GET("/api/v1/knowledge-bases/{kb_id}/files/{file_id}/chunks", {
          params: { path: { kb_id, file_id }, query: { limit: 100, cursor } },
        }),
      ),
  });
