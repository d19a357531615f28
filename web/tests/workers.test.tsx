// What the page about workers shows of a worker and of the queue, and how a worker is revoked.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { Middleware } from "openapi-fetch";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { api } from "../src/api/client";
import WorkersPage from "../src/features/workers/WorkersPage";
import en from "../src/locales/en.json";

const WORKER = {
  runtime_id: "anvil",
  plugin_id: null,
  key_id: "k",
  status: "active",
  labels: ["gpu"],
  runners: [],
  slots: 4,
  used_slots: 1,
  versions: {},
  providers: [],
  workspaces: [],
  registered_at: 1,
  last_seen_at: 2,
  expires_at: 3,
};
const RUN = {
  run_id: "r1",
  status: "running",
  agent_id: "a",
  runner_id: "plugin:test/agent/default",
  conversation_id: "c",
  labels: ["gpu"],
  runtime_id: "anvil",
  lease_until: 9,
  candidates: 1,
};

let host: Middleware;
let asked: string[];
let workers: object[];
let runs: object[];

beforeEach(() => {
  asked = [];
  workers = [WORKER];
  runs = [];
  host = {
    onRequest: ({ request }) => {
      const path = new URL(request.url).pathname;
      asked.push(`${request.method} ${path}`);
      if (path.endsWith("/auth/me")) return Response.json({ role: "operator" });
      if (path.endsWith("/revoke")) return new Response(null, { status: 204 });
      return Response.json({ items: path.endsWith("/queue") ? runs : workers, next_cursor: null });
    },
  };
  api.use(host);
});
afterEach(() => api.eject(host));

function show() {
  const root = createRootRoute({ component: WorkersPage });
  const router = createRouter({ routeTree: root, history: createMemoryHistory({ initialEntries: ["/"] }) });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}

describe("the page about workers", () => {
  it("says how to start one while there is none, and that the queue is empty", async () => {
    workers = [];
    show();
    expect(await screen.findByText(en.workers.none)).toBeTruthy();
    expect(await screen.findByText(en.workers.noRuns)).toBeTruthy();
  });

  it("shows who holds a run, and warns of a run that no worker can execute", async () => {
    runs = [RUN, { ...RUN, run_id: "r2", status: "queued", runtime_id: null, lease_until: null, candidates: 0 }];
    show();
    expect(await screen.findByText(/Held by anvil/)).toBeTruthy();
    expect(screen.getAllByText(en.workers.noCandidate)).toHaveLength(1);
    expect(screen.getByText(/1 of 4 slots used/)).toBeTruthy();
  });

  it("revokes a worker after a question", async () => {
    show();
    fireEvent.click(await screen.findByRole("button", { name: en.workers.revoke }));
    expect(screen.getByText(en.workers.revokeText)).toBeTruthy();
    expect(asked).not.toContain("POST /api/v1/runtimes/anvil/revoke");
    const buttons = screen.getAllByRole("button", { name: en.workers.revoke });
    fireEvent.click(buttons[buttons.length - 1] as HTMLElement);
    await waitFor(() => expect(asked).toContain("POST /api/v1/runtimes/anvil/revoke"));
  });
});
