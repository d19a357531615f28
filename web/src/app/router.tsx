// The routes of the page. Each page is loaded when it is first opened; without a session, the login is shown.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";

import { setToken } from "../api/client";
import { Problem } from "../api/problem";
import * as queries from "../api/queries";
import { chatSearch } from "../features/chat/search";
import { runSearch } from "../features/runs/search";
import { BASE } from "../lib/base";
import { setCurrency } from "../lib/format";
import { ErrorPage, NotFoundPage } from "./ErrorPages";
import { Shell } from "./Shell";

type Context = { client: QueryClient };

const root = createRootRouteWithContext<Context>()({ notFoundComponent: NotFoundPage, errorComponent: ErrorPage });

async function requireLogin(client: QueryClient, next: string): Promise<void> {
  try {
    setToken((await client.ensureQueryData(queries.me)).csrf_token);
    setCurrency((await client.ensureQueryData(queries.info)).currency);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 401) throw error;
    const setup = await client.fetchQuery(queries.setup);
    throw redirect(setup.needed ? { to: "/setup" } : { to: "/login", search: { next } });
  }
}

const authenticated = createRoute({
  id: "authenticated",
  getParentRoute: () => root,
  beforeLoad: ({ context, location }) => requireLogin(context.client, location.href),
  component: Shell,
});
const login = createRoute({
  path: "/login",
  getParentRoute: () => root,
  validateSearch: (search: Record<string, unknown>) => ({ next: typeof search.next === "string" ? search.next : "/" }),
  component: lazyRouteComponent(() => import("../features/start/LoginPage")),
});
const setup = createRoute({
  path: "/setup",
  getParentRoute: () => root,
  component: lazyRouteComponent(() => import("../features/start/SetupPage")),
});
/** The search parameters of a page: the open tab. */
const tabSearch = (search: Record<string, unknown>): { tab?: string } =>
  typeof search.tab === "string" ? { tab: search.tab } : {};
const page = <Path extends string>(path: Path, load: () => Promise<{ default: () => React.ReactNode }>) =>
  createRoute({
    path,
    getParentRoute: () => authenticated,
    validateSearch: tabSearch,
    component: lazyRouteComponent(load),
  });

const chat = createRoute({
  path: "/chat/$agentId",
  getParentRoute: () => authenticated,
  validateSearch: chatSearch,
  component: lazyRouteComponent(() => import("../features/chat/ChatPage")),
});
const runs = createRoute({
  path: "/runs",
  getParentRoute: () => authenticated,
  validateSearch: runSearch,
  component: lazyRouteComponent(() => import("../features/runs/RunsPage")),
});
/** The passages of a file; `chunk` is the one that a citation names. */
const passage = createRoute({
  path: "/knowledge/$kbId/files/$fileId",
  getParentRoute: () => authenticated,
  validateSearch: (search: Record<string, unknown>): { chunk?: string } =>
    typeof search.chunk === "string" ? { chunk: search.chunk } : {},
  component: lazyRouteComponent(() => import("../features/knowledge/FilePage")),
});
/** An unknown address shows its error inside the shell. */
const missing = createRoute({ path: "/$", getParentRoute: () => authenticated, component: NotFoundPage });

const tree = root.addChildren([
  login,
  setup,
  authenticated.addChildren([
    page("/", () => import("../features/home/HomePage")),
    page("/welcome", () => import("../features/start/WelcomePage")),
    page("/chat", () => import("../features/chat/ChatPage")),
    chat,
    page("/bots", () => import("../features/bots/BotsPage")),
    page("/bots/new", () => import("../features/bots/NewBotPage")),
    page("/bots/$botId", () => import("../features/bots/BotPage")),
    page("/agents", () => import("../features/agents/AgentsPage")),
    page("/agents/new", () => import("../features/agents/NewAgentPage")),
    page("/agents/$agentId", () => import("../features/agents/AgentPage")),
    page("/pipelines", () => import("../features/pipelines/PipelinesPage")),
    page("/pipelines/$pipelineId", () => import("../features/pipelines/PipelinePage")),
    runs,
    page("/runs/$runId", () => import("../features/runs/RunPage")),
    page("/approvals", () => import("../features/approvals/ApprovalsPage")),
    page("/models", () => import("../features/models/ModelsPage")),
    page("/tools", () => import("../features/tools/ToolsPage")),
    page("/box", () => import("../features/box/BoxPage")),
    page("/hosts", () => import("../features/hosts/HostsPage")),
    page("/workers", () => import("../features/workers/WorkersPage")),
    page("/skills", () => import("../features/skills/SkillsPage")),
    page("/skills/$name", () => import("../features/skills/SkillPage")),
    page("/knowledge", () => import("../features/knowledge/KnowledgePage")),
    page("/knowledge/$kbId", () => import("../features/knowledge/BasePage")),
    passage,
    page("/plugins", () => import("../features/plugins/PluginsPage")),
    page("/settings", () => import("../features/settings/SettingsPage")),
    missing,
  ]),
]);

export const buildRouter = (client: QueryClient) =>
  createRouter({
    routeTree: tree,
    basepath: BASE || "/",
    context: { client },
    defaultPreload: "intent",
    scrollRestoration: true,
  });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof buildRouter>;
  }
}
