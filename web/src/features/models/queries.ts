// Queries of models, providers and budgets. The live channel marks them as stale by their keys (api/live.ts).
import { queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";
import { detailQuery, listQuery, pageAfter } from "../../api/queries";

export const kinds = { ...listQuery("kinds", () => api.GET("/api/v1/model-kinds")), staleTime: Infinity };

export const providers = listQuery("providers", (cursor) => api.GET("/api/v1/model-providers", pageAfter(cursor)));

export const models = listQuery("models", (cursor) => api.GET("/api/v1/models", pageAfter(cursor)));

export const budgets = listQuery("budgets", (cursor) => api.GET("/api/v1/budgets", pageAfter(cursor)));

export const provider = (provider_id: string) =>
  detailQuery(["providers", provider_id], () =>
    api.GET("/api/v1/model-providers/{provider_id}", { params: { path: { provider_id } } }),
  );

export const model = (model_id: string) =>
  detailQuery(["models", model_id], () => api.GET("/api/v1/models/{model_id}", { params: { path: { model_id } } }));

export const budget = (budget_id: string) =>
  detailQuery(["budgets", budget_id], () =>
    api.GET("/api/v1/budgets/{budget_id}", { params: { path: { budget_id } } }),
  );

export const usage = (days: number) =>
  queryOptions({
    queryKey: ["stats", "usage", days],
    queryFn: () => answer(api.GET("/api/v1/stats/usage", { params: { query: { days } } })),
    select: (page) => page.items,
  });
