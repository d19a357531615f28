// What the page about Hosts shows of each and of the parts, and how a Host is drained and a part moved.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { Middleware } from "openapi-fetch";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { api } from "../src/api/client";
import HostsPage from "../src/features/hosts/HostsPage";
import en from "../src/locales/en.json";

const FIRST = {
  host_id: "h1",
  name: "first",
  version: "1.0",
  address: "http://first",
  state: "live",
  health: "healthy",
  started_at: 1,
  fenced_at: null,
  lease_until: 9,
  parts: ["bot:b1", "duty:sweeps", "shard:00", "shard:01"],
  answers_this: true,
};
const SECOND = { ...FIRST, host_id: "h2", name: "second", health: "unreachable", parts: [], answers_this: false };
const PARTS = ["bot:b1", "duty:sweeps", "shard:00"].map((part) => ({
  part,
  host_id: "h1",
  epoch: 1,
  wanted_by: null,
  moved_at: 0,
}));

let host: Middleware;
let asked: string[];
let hosts: object[];
let role: string;

beforeEach(() => {
  asked = [];
  hosts = [FIRST, SECOND];
  role = "admin";
  host = {
    onRequest: async ({ request }) => {
      const path = new URL(request.url).pathname;
      asked.push(`${request.method} ${path} ${await request.clone().text()}`.trim());
      if (path.endsWith("/auth/me")) return Response.json({ role });
      if (path.endsWith("/drain")) return Response.json({ ...FIRST, state: "draining" }, { status: 202 });
      if (path.endsWith("/resume")) return Response.json(FIRST, { status: 202 });
      if (path.endsWith("/move")) return Response.json({ ...PARTS[0], wanted_by: "h2" }, { status: 202 });
      if (path.endsWith("/bots"))
        return Response.json({ items: [{ bot_id: "b1", name: "Support" }], next_cursor: null });
      return Response.json({ items: path.endsWith("/parts") ? PARTS : hosts, next_cursor: null });
    },
  };
  api.use(host);
});
afterEach(() => api.eject(host));

function show() {
  const root = createRootRoute({ component: HostsPage });
  const router = createRouter({ routeTree: root, history: createMemoryHistory({ initialEntries: ["/"] }) });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}

describe("the page about Hosts", () => {
  it("says that a Host has its database to itself", async () => {
    hosts = [];
    show();
    expect(await screen.findByText(en.hosts.alone)).toBeTruthy();
    expect(screen.queryByText(en.hosts.parts)).toBeNull();
  });

  it("says in words how each Host is doing and what it owns", async () => {
    show();
    expect(await screen.findByText(en.hosts.healthText.healthy)).toBeTruthy();
    expect(screen.getByText(en.hosts.healthText.unreachable)).toBeTruthy();
    expect(screen.getByText(/1 bot, 2 shares of the chats, 1 duty/)).toBeTruthy();
    expect(screen.getByText(new RegExp(en.hosts.nothing))).toBeTruthy();
    expect(screen.getAllByText(en.hosts.answers)).toHaveLength(1);
  });

  it("says who owns a bot, and a duty by its name", async () => {
    show();
    expect(await screen.findByText("Support")).toBeTruthy();
    expect(await screen.findByText("Owned by first")).toBeTruthy();
    fireEvent.change(screen.getByRole("combobox", { name: en.hosts.kind }), { target: { value: "duty" } });
    expect(await screen.findByText(en.hosts.duty.sweeps)).toBeTruthy();
    expect(screen.queryByText("Support")).toBeNull();
  });

  it("drains a Host after a question, and resumes it", async () => {
    show();
    const [first] = await screen.findAllByRole("button", { name: en.hosts.drain });
    fireEvent.click(first as HTMLElement);
    expect(screen.getByText(en.hosts.drainText)).toBeTruthy();
    expect(asked).not.toContain("POST /api/v1/hosts/h1/drain");
    hosts = [{ ...FIRST, state: "draining", health: "draining" }, SECOND];
    fireEvent.click(screen.getAllByRole("button", { name: en.hosts.drain })[1] as HTMLElement);
    await waitFor(() => expect(asked).toContain("POST /api/v1/hosts/h1/drain"));
    fireEvent.click(await screen.findByRole("button", { name: en.hosts.resume }));
    await waitFor(() => expect(asked).toContain("POST /api/v1/hosts/h1/resume"));
  });

  it("warns before the only Host is drained", async () => {
    hosts = [FIRST];
    show();
    fireEvent.click(await screen.findByRole("button", { name: en.hosts.drain }));
    expect(screen.getByText(en.hosts.drainAlone)).toBeTruthy();
  });

  it("moves a bot to the Host that is chosen", async () => {
    show();
    fireEvent.click(await screen.findByRole("button", { name: "Move Support" }));
    expect(screen.getByRole("combobox", { name: en.hosts.moveTo })).toBeTruthy();
    fireEvent.click(screen.getAllByRole("button", { name: en.hosts.move }).at(-1) as HTMLElement);
    await waitFor(() => expect(asked).toContain('POST /api/v1/parts/bot%3Ab1/move {"host_id":"h2"}'));
  });

  it("lets a viewer look, and change nothing", async () => {
    role = "viewer";
    show();
    expect(await screen.findByText("Support")).toBeTruthy();
    expect(screen.queryByRole("button", { name: en.hosts.drain })).toBeNull();
    expect(screen.queryByRole("button", { name: "Move Support" })).toBeNull();
  });
});
