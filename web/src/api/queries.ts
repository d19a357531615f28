// What the page reads, each under the key by which the live channel calls it stale.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { fieldsOf } from "../lib/fields";
import { answer, api, type Reply, type Versioned, versioned } from "./client";
import { isReplayFrame } from "./frames";
import type { Counters, Fields, Me, Page, RunDetail, RunEvent, RunStatus, Stats } from "./types";

/** Reads all pages of a list that people keep by hand, and that is short for that reason. */
async function fetchAllPages<Item>(read: (cursor: string | null) => Promise<Reply<Page<Item>>>): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await answer(read(cursor));
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return items;
}

export type VersionedQuery<T> = ReturnType<typeof queryOptions<Versioned<T>, Error, Versioned<T>, string[]>>;
/** One thing that can be changed, with its version. */
const detailQuery = <T>(key: string[], read: () => Promise<Reply<T>>): VersionedQuery<T> =>
  queryOptions<Versioned<T>, Error, Versioned<T>, string[]>({ queryKey: key, queryFn: () => versioned(read()) });
const pageAfter = (cursor: string | null) => ({ params: { query: { limit: 100, cursor } } });
const listQuery = <Item>(key: string, read: (cursor: string | null) => Promise<Reply<Page<Item>>>) =>
  queryOptions({ queryKey: [key], queryFn: () => fetchAllPages(read) });

export const setup = queryOptions({
  queryKey: ["setup"],
  queryFn: () => answer(api.GET("/api/v1/auth/setup")),
});
export const me = queryOptions({
  queryKey: ["me"],
  queryFn: async (): Promise<Me> => {
    const me = await answer(api.GET("/api/v1/auth/me"));
    if (me.kind === "key") throw new Error("the page needs a session, not an API key");
    return me;
  },
  retry: false,
  staleTime: Infinity,
});
export const info = queryOptions({
  queryKey: ["info"],
  queryFn: () => answer(api.GET("/api/v1/info")),
  staleTime: Infinity,
});
export const runners = listQuery("runners", () => api.GET("/api/v1/runners"));
export const agents = listQuery("agents", (cursor) => api.GET("/api/v1/agents", pageAfter(cursor)));
export const adapters = { ...listQuery("adapters", () => api.GET("/api/v1/adapters")), staleTime: Infinity };
export const bots = listQuery("bots", (cursor) => api.GET("/api/v1/bots", pageAfter(cursor)));
export const defaultAgents = listQuery("defaultAgents", (cursor) =>
  api.GET("/api/v1/default-agents", pageAfter(cursor)),
);
export const kinds = { ...listQuery("kinds", () => api.GET("/api/v1/model-kinds")), staleTime: Infinity };
export const providers = listQuery("providers", (cursor) => api.GET("/api/v1/model-providers", pageAfter(cursor)));
export const models = listQuery("models", (cursor) => api.GET("/api/v1/models", pageAfter(cursor)));
export const budgets = listQuery("budgets", (cursor) => api.GET("/api/v1/budgets", pageAfter(cursor)));
export const plugins = listQuery("plugins", () => api.GET("/api/v1/plugins"));
export const tools = listQuery("tools", (cursor) => api.GET("/api/v1/tools", pageAfter(cursor)));
export const mcpServers = listQuery("mcp", (cursor) => api.GET("/api/v1/mcp-servers", pageAfter(cursor)));
/** Those that wait for somebody. */
export const approvals = queryOptions({
  queryKey: ["approvals", "waiting"],
  queryFn: () => answer(api.GET("/api/v1/approvals", { params: { query: { status: "pending", limit: 100 } } })),
  select: (page) => page.items,
});
export const settings = detailQuery(["settings"], () => api.GET("/api/v1/settings"));
export const approvalPages = (status?: "pending") =>
  infiniteQueryOptions({
    queryKey: ["approvals", "pages", status ?? "all"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      answer(api.GET("/api/v1/approvals", { params: { query: { status, limit: 50, cursor: pageParam } } })),
    getNextPageParam: (last) => last.next_cursor,
  });
export const users = listQuery("users", () => api.GET("/api/v1/users"));
export const keys = listQuery("keys", () => api.GET("/api/v1/api-keys"));

export const agent = (agent_id: string) =>
  detailQuery(["agents", agent_id], () => api.GET("/api/v1/agents/{agent_id}", { params: { path: { agent_id } } }));
export const bot = (bot_id: string) =>
  detailQuery(["bots", bot_id], () => api.GET("/api/v1/bots/{bot_id}", { params: { path: { bot_id } } }));
export const routes = (bot_id: string) =>
  detailQuery(["routes", bot_id], () => api.GET("/api/v1/bots/{bot_id}/routes", { params: { path: { bot_id } } }));
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
export const mcpServer = (server_id: string) =>
  detailQuery(["mcp", server_id], () =>
    api.GET("/api/v1/mcp-servers/{server_id}", { params: { path: { server_id } } }),
  );
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
export const why = (name: string) =>
  queryOptions({
    queryKey: ["why", name],
    queryFn: () => answer(api.GET("/api/v1/events/{name}/why", { params: { path: { name } } })),
  });

export type RunFilter = {
  status?: RunStatus;
  agent_id?: string;
  bot_id?: string;
  conversation_id?: string;
  /** The exact id of a sender, as the bot's platform has it. */
  actor?: string;
  since?: number;
  q?: string;
};

/** The first few are there at once; whoever scrolls gets them by the hundred. */
const fetchRuns = (filter: RunFilter, cursor: string | null) =>
  answer(api.GET("/api/v1/runs", { params: { query: { ...filter, limit: cursor === null ? 100 : 500, cursor } } }));
/** The newest, read again whenever something happens. */
export const newestRuns = (filter: RunFilter) =>
  queryOptions({ queryKey: ["runs", "head", filter], queryFn: () => fetchRuns(filter, null) });
/** Everything before them, as far as somebody looked. */
export const runs = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: ["runs", "pages", filter],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, client }) =>
      pageParam === null ? client.fetchQuery(newestRuns(filter)) : fetchRuns(filter, pageParam),
    getNextPageParam: (last) => last.next_cursor,
    staleTime: 60_000,
  });
export const run = (run_id: string) =>
  queryOptions({
    queryKey: ["runs", "one", run_id],
    queryFn: (): Promise<RunDetail> => answer(api.GET("/api/v1/runs/{run_id}", { params: { path: { run_id } } })),
  });
export const runEvents = (run_id: string) =>
  queryOptions({
    queryKey: ["runs", "one", run_id, "events"],
    queryFn: async (): Promise<RunEvent[]> => {
      const events = await fetchAllPages((cursor) =>
        api.GET("/api/v1/runs/{run_id}/events", { params: { path: { run_id }, query: { limit: 100, cursor } } }),
      );
      return events.map((event) => ({ ...event, data: fieldsOf(event.data) }));
    },
  });
/** A record does not change, so it is read once. */
export const modelCall = (run_id: string, call_id: string) =>
  queryOptions({
    queryKey: ["modelCalls", run_id, call_id],
    queryFn: () =>
      answer(api.GET("/api/v1/runs/{run_id}/model-calls/{call_id}", { params: { path: { run_id, call_id } } })),
    staleTime: Infinity,
    retry: false,
  });
export const replay = (run_id: string) =>
  queryOptions({
    queryKey: ["runs", "one", run_id, "replay"],
    queryFn: async () => {
      const replay = await answer(api.GET("/api/v1/runs/{run_id}/replay", { params: { path: { run_id } } }));
      return { ...replay, frames: replay.frames.filter(isReplayFrame) };
    },
  });
export const chatSessions = (agent_id: string) =>
  queryOptions({
    queryKey: ["chatSessions", agent_id],
    queryFn: () =>
      answer(
        api.GET("/api/v1/agents/{agent_id}/chat/sessions", { params: { path: { agent_id }, query: { limit: 100 } } }),
      ),
    // one in which nothing was said, or no longer is anything, is no conversation to a person
    select: (page) => page.items.filter((each) => each.items > 0),
  });
const countersOf = (figures: Fields): Counters =>
  Object.fromEntries(
    Object.entries(figures).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
export const stats = (hours: number) =>
  queryOptions({
    queryKey: ["stats", hours],
    queryFn: async (): Promise<Stats> => {
      const { items, totals } = await answer(api.GET("/api/v1/stats", { params: { query: { hours } } }));
      return { items: items.map((item) => ({ ...countersOf(item), hour: item.hour })), totals: countersOf(totals) };
    },
  });
export const usage = (days: number) =>
  queryOptions({
    queryKey: ["stats", "usage", days],
    queryFn: () => answer(api.GET("/api/v1/stats/usage", { params: { query: { days } } })),
    select: (page) => page.items,
  });
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
