// What the page reads, each under the key by which the live channel calls it stale.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { answer, api, type Versioned, versioned } from "./client";
import type * as facts from "./types";

type Ask = (cursor: string | null) => Promise<{ response: Response }>;

/** All pages of a list that people keep by hand, and that is short for that reason. */
async function everything<T>(ask: Ask): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page: facts.Page<T> = await answer<facts.Page<T>>(ask(cursor));
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return items;
}

export type VersionedQuery<T> = ReturnType<typeof queryOptions<Versioned<T>, Error, Versioned<T>, string[]>>;
/** One of them, to be changed: with the version that it was. */
const one = <T>(key: string[], ask: () => Parameters<typeof versioned>[0]) => queryOptions<Versioned<T>, Error, Versioned<T>, string[]>({ queryKey: key, queryFn: () => versioned<T>(ask()) });
const at = (cursor: string | null) => ({ params: { query: { limit: 100, cursor } } });
const list = <T>(key: string, ask: Ask) => queryOptions({ queryKey: [key], queryFn: () => everything<T>(ask) });

export const setup = queryOptions({
  queryKey: ["setup"],
  queryFn: () => answer<facts.Setup>(api.GET("/api/v1/auth/setup")),
});
export const me = queryOptions({
  queryKey: ["me"],
  queryFn: () => answer<facts.Me>(api.GET("/api/v1/auth/me")),
  retry: false,
  staleTime: Infinity,
});
export const info = queryOptions({
  queryKey: ["info"],
  queryFn: () => answer<facts.Info>(api.GET("/api/v1/info")),
  staleTime: Infinity,
});
export const runners = list<facts.Runner>("runners", () => api.GET("/api/v1/runners"));
export const agents = list<facts.Agent>("agents", (cursor) => api.GET("/api/v1/agents", at(cursor)));
export const adapters = { ...list<facts.Adapter>("adapters", () => api.GET("/api/v1/adapters")), staleTime: Infinity };
export const bots = list<facts.Bot>("bots", (cursor) => api.GET("/api/v1/bots", at(cursor)));
export const defaultAgents = list<facts.DefaultAgent>("defaultAgents", (cursor) => api.GET("/api/v1/default-agents", at(cursor)));
export const kinds = { ...list<facts.ModelKind>("kinds", () => api.GET("/api/v1/model-kinds")), staleTime: Infinity };
export const providers = list<facts.Provider>("providers", (cursor) => api.GET("/api/v1/model-providers", at(cursor)));
export const models = list<facts.Model>("models", (cursor) => api.GET("/api/v1/models", at(cursor)));
export const budgets = list<facts.Budget>("budgets", (cursor) => api.GET("/api/v1/budgets", at(cursor)));
export const plugins = list<facts.Plugin>("plugins", () => api.GET("/api/v1/plugins"));
export const tools = list<facts.Tool>("tools", (cursor) => api.GET("/api/v1/tools", at(cursor)));
export const mcpServers = list<facts.McpServer>("mcp", (cursor) => api.GET("/api/v1/mcp-servers", at(cursor)));
/** Those that wait for somebody. */
export const approvals = queryOptions({
  queryKey: ["approvals", "waiting"],
  queryFn: () =>
    answer<facts.Page<facts.Approval>>(api.GET("/api/v1/approvals", { params: { query: { status: "pending", limit: 100 } } })),
  select: (page) => page.items,
});
export const settings = one<facts.Settings>(["settings"], () => api.GET("/api/v1/settings"));
export const approvalPages = (status?: "pending") =>
  infiniteQueryOptions({
    queryKey: ["approvals", "pages", status ?? "all"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      answer<facts.Page<facts.Approval>>(api.GET("/api/v1/approvals", { params: { query: { status, limit: 50, cursor: pageParam } } })),
    getNextPageParam: (last) => last.next_cursor,
  });
export const users = list<facts.User>("users", () => api.GET("/api/v1/users"));
export const keys = list<facts.ApiKey>("keys", () => api.GET("/api/v1/api-keys"));

export const agent = (agent_id: string) =>
  one<facts.Agent>(["agents", agent_id], () => api.GET("/api/v1/agents/{agent_id}", { params: { path: { agent_id } } }));
export const bot = (bot_id: string) =>
  one<facts.Bot>(["bots", bot_id], () => api.GET("/api/v1/bots/{bot_id}", { params: { path: { bot_id } } }));
export const routes = (bot_id: string) =>
  one<facts.Page<facts.Route>>(["routes", bot_id], () => api.GET("/api/v1/bots/{bot_id}/routes", { params: { path: { bot_id } } }));
export const provider = (provider_id: string) =>
  one<facts.Provider>(["providers", provider_id], () => api.GET("/api/v1/model-providers/{provider_id}", { params: { path: { provider_id } } }));
export const model = (model_id: string) =>
  one<facts.Model>(["models", model_id], () => api.GET("/api/v1/models/{model_id}", { params: { path: { model_id } } }));
export const budget = (budget_id: string) =>
  one<facts.Budget>(["budgets", budget_id], () => api.GET("/api/v1/budgets/{budget_id}", { params: { path: { budget_id } } }));
export const mcpServer = (server_id: string) =>
  one<facts.McpServer>(["mcp", server_id], () => api.GET("/api/v1/mcp-servers/{server_id}", { params: { path: { server_id } } }));
export const conversation = (conversation_id: string) =>
  queryOptions({
    queryKey: ["conversations", conversation_id],
    queryFn: () => answer<facts.Conversation>(api.GET("/api/v1/conversations/{conversation_id}", { params: { path: { conversation_id } } })),
  });
export const botEvents = (bot_id: string) =>
  queryOptions({
    queryKey: ["events", bot_id],
    queryFn: () =>
      answer<facts.Page<facts.EventRecord>>(api.GET("/api/v1/events", { params: { query: { bot_id, limit: 20 } } })),
    select: (page) => page.items,
  });
export const why = (name: string) =>
  queryOptions({
    queryKey: ["why", name],
    queryFn: () => answer<facts.Why>(api.GET("/api/v1/events/{name}/why", { params: { path: { name } } })),
  });

export type RunFilter = {
  status?: string;
  agent_id?: string;
  bot_id?: string;
  conversation_id?: string;
  /** The exact id of a sender, as the bot's platform has it. */
  actor?: string;
  since?: number;
  q?: string;
};

/** The first few are there at once; whoever scrolls gets them by the hundred. */
const somePage = (filter: RunFilter, cursor: string | null) =>
  answer<facts.Page<facts.Run>>(
    // the Host checks the status; the document's union is wider than a select's text
    api.GET("/api/v1/runs", { params: { query: { ...filter, limit: cursor === null ? 100 : 500, cursor } as never } }),
  );
/** The newest, read again whenever something happens. */
export const newestRuns = (filter: RunFilter) =>
  queryOptions({ queryKey: ["runs", "head", filter], queryFn: () => somePage(filter, null) });
/** Everything before them, as far as somebody looked. */
export const runs = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: ["runs", "pages", filter],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, client }) =>
      pageParam === null ? client.fetchQuery(newestRuns(filter)) : somePage(filter, pageParam),
    getNextPageParam: (last) => last.next_cursor,
    staleTime: 60_000,
  });
export const run = (run_id: string) =>
  queryOptions({
    queryKey: ["runs", "one", run_id],
    queryFn: () => answer<facts.Run>(api.GET("/api/v1/runs/{run_id}", { params: { path: { run_id } } })),
  });
export const runEvents = (run_id: string) =>
  queryOptions({
    queryKey: ["runs", "one", run_id, "events"],
    queryFn: () =>
      everything<facts.RunEvent>((cursor) =>
        api.GET("/api/v1/runs/{run_id}/events", { params: { path: { run_id }, query: { limit: 100, cursor } } }),
      ),
  });
/** A record does not change, so it is read once. */
export const modelCall = (run_id: string, call_id: string) =>
  queryOptions({
    queryKey: ["modelCalls", run_id, call_id],
    queryFn: () => answer<facts.ModelCall>(api.GET("/api/v1/runs/{run_id}/model-calls/{call_id}", { params: { path: { run_id, call_id } } })),
    staleTime: Infinity,
    retry: false,
  });
export const replay = (run_id: string) =>
  queryOptions({
    queryKey: ["runs", "one", run_id, "replay"],
    queryFn: () => answer<facts.Replay>(api.GET("/api/v1/runs/{run_id}/replay", { params: { path: { run_id } } })),
  });
export const chatSessions = (agent_id: string) =>
  queryOptions({
    queryKey: ["chatSessions", agent_id],
    queryFn: () =>
      answer<facts.Page<facts.ChatSession>>(
        api.GET("/api/v1/agents/{agent_id}/chat/sessions", { params: { path: { agent_id }, query: { limit: 100 } } }),
      ),
    // one in which nothing was said, or no longer is anything, is no conversation to a person
    select: (page) => page.items.filter((each) => each.items > 0),
  });
export const stats = (hours: number) =>
  queryOptions({
    queryKey: ["stats", hours],
    queryFn: () => answer<facts.Stats>(api.GET("/api/v1/stats", { params: { query: { hours } } })),
  });
export const usage = (days: number) =>
  queryOptions({
    queryKey: ["stats", "usage", days],
    queryFn: () => answer<facts.Page<facts.UsageItem>>(api.GET("/api/v1/stats/usage", { params: { query: { days } } })),
    select: (page) => page.items,
  });
export const pluginLogs = (id: string) => {
  const [author = "", name = ""] = id.split("/");
  return queryOptions({
    queryKey: ["plugins", "logs", id],
    queryFn: () =>
      answer<facts.Page<unknown>>(
        api.GET("/api/v1/plugins/{author}/{name}/logs", { params: { path: { author, name }, query: { limit: 200 } } }),
      ),
    select: (page) => page.items,
  });
};
