// What the page shows of coding agents: their programs, their questions, their plans and the files that they change.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { Middleware } from "openapi-fetch";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { api } from "../src/api/client";
import { me } from "../src/api/queries";
import type { RunEvent } from "../src/api/types";
import { Programs } from "../src/features/plugins/Programs";
import { RunApprovals } from "../src/features/runs/RunApprovals";
import { Timeline } from "../src/features/runs/Timeline";
import { timeline } from "../src/features/runs/timelineModel";
import en from "../src/locales/en.json";

const QUESTION = {
  approval_id: "a-1",
  keyword: "blue fox",
  status: "pending",
  action: "harness.permission",
  words: "Write a.txt",
  run_id: "run-1",
  agent_id: "agent-1",
  call: { title: "Write a.txt", details: "a.txt (+1 -1)\n-old line\n+new line", always: "all edits of this session" },
  requester: "user:1",
  occasion: null,
  who: {},
  created_at: 1_794_798_494_000,
  expires_at: 4_794_798_494_000,
  decided_at: null,
  decided_by: null,
  reason: null,
};
const PROGRAM = {
  name: "goose",
  label: "Goose",
  commands: [
    { name: "goose", path: null },
    { name: "node", path: "/usr/bin/node" },
  ],
  installed: false,
  install: "npm install -g @aaif/goose",
  note: { en_US: "It asks before each command." },
  granted: true,
  grant: "processes:goose",
  words: [{ key: "processes.workspace", values: { name: "goose" }, text: "change files" }],
  running: 2,
};

let host: Middleware;
let decisions: unknown[];

beforeEach(() => {
  decisions = [];
  host = {
    onRequest: async ({ request }) => {
      const path = new URL(request.url).pathname;
      if (request.method === "POST") decisions.push([path, await request.json()]);
      if (path.endsWith("/programs")) return Response.json({ items: [PROGRAM], next_cursor: null });
      if (path.endsWith("/approvals"))
        return Response.json({
          items: [QUESTION, { ...QUESTION, approval_id: "a-2", run_id: "other" }],
          next_cursor: null,
        });
      return Response.json({ items: [], next_cursor: null });
    },
  };
  api.use(host);
});
afterEach(() => api.eject(host));

function show(children: ReactNode) {
  const client = new QueryClient();
  client.setQueryData(me.queryKey, { name: "ann", role: "admin", id: "1" } as never);
  const rootRoute = createRootRoute({ component: () => <>{children}</> });
  const router = createRouter({ routeTree: rootRoute, history: createMemoryHistory() });
  render(
    <QueryClientProvider client={client}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}

let sequence = 0;
const event = (type: string, data: RunEvent["data"]): RunEvent => ({
  sequence: ++sequence,
  type,
  data,
  source: "runner",
  created_at: 1_794_798_494_556 + sequence,
  artifact_refs: [],
  run_id: "r",
  metadata: {},
  first_sequence: null,
  last_sequence: null,
});

describe("the programs of a plugin", () => {
  it("say what is missing, the command that installs it, what it may do and how many run", async () => {
    show(<Programs id="parlour/acp-agent" />);

    await screen.findByText("Goose");
    expect(screen.getByText(en.programs.missing, { selector: "span" })).toBeTruthy();
    expect(screen.getByText("npm install -g @aaif/goose")).toBeTruthy();
    expect(screen.getByText("It asks before each command.")).toBeTruthy();
    expect(screen.getByText(/2 running/)).toBeTruthy();
    expect(screen.getByRole("button", { name: en.markdown.copy })).toBeTruthy();
  });
});

describe("a question of a coding agent", () => {
  it("is decided beside its run, with the changed lines, once or for good", async () => {
    show(<RunApprovals runId="run-1" />);

    await screen.findByText("Write a.txt");
    expect(screen.getByText("+new line").className).toContain("good");
    expect(screen.getByText("-old line").className).toContain("bad");
    expect(screen.getAllByRole("button", { name: en.approvals.approve })).toHaveLength(1);
    fireEvent.click(screen.getByRole("button", { name: en.approvals.always }));
    await waitFor(() => expect(decisions).toEqual([["/api/v1/approvals/a-1", { decision: "always", reason: "" }]]));
  });
});

describe("the timeline of a coding agent", () => {
  it("shows the latest plan once, and the files that a tool changed", () => {
    const plan = (...status: string[]) =>
      event("harness.plan", { entries: status.map((each, index) => ({ content: `Step ${index}`, status: each })) });
    const changed = { text: "", diffs: [{ path: "a.txt", added: 1, removed: 0, text: "+written" }] };
    const steps = timeline([
      plan("pending", "pending"),
      event("tool.call.started", { tool_call_id: "1", tool_name: "Write a.txt" }),
      event("tool.call.completed", { tool_call_id: "1", tool_name: "Write a.txt", result: changed, error: null }),
      plan("completed", "in_progress"),
    ]);
    show(<Timeline steps={steps} names={new Map()} />);

    expect(steps.map((step) => step.kind)).toEqual(["plan", "tool"]);
    expect(steps[0]?.plan?.map((entry) => entry.status)).toEqual(["completed", "in_progress"]);
    return screen.findByText("+written").then(() => {
      expect(screen.getByLabelText(en.plan.completed)).toBeTruthy();
      expect(screen.getByText("a.txt")).toBeTruthy();
    });
  });
});
