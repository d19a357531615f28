// Queries of the figures of the home page. The live channel marks them as stale by their keys (api/live.ts).
import { queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";
import type { Counters, Fields, Stats } from "../../api/types";

const countersOf = (fields: Fields): Counters =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, number] => typeof entry[1] === "number"));

export const stats = (hours: number) =>
  queryOptions({
    queryKey: ["stats", hours],
    queryFn: async (): Promise<Stats> => {
      const { items, totals } = await answer(api.GET("/api/v1/stats", { params: { query: { hours } } }));
      return { items: items.map((item) => ({ ...countersOf(item), hour: item.hour })), totals: countersOf(totals) };
    },
  });
