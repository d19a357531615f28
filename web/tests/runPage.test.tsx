// The filter for one sender, the question before a run is cancelled, and the page that is not there.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { Middleware } from "openapi-fetch";
import { type ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { api } from "../src/api/client";
import { NotFoundPage } from "../src/app/ErrorPages";
import { CancelRun } from "../src/features/runs/CancelRun";
import { RunFilters } from "../src/features/runs/RunFilters";
import type { RunSearch } from "../src/features/runs/search";
import en from "../src/locales/en.json";

let host: Middleware;
let asked: string[];

beforeEach(() => {
  asked = [];
  host = {
    onRequest: ({ request }) => {
      asked.push(`${request.method} ${new URL(request.url).pathname}`);
      return Response.json({ items: [], next_cursor: null });
    },
  };
  api.use(host);
});
afterEach(() => api.eject(host));

const shown = (children: ReactNode) =>
  render(<QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>);

describe("the filter for one sender", () => {
  const filters = (search: RunSearch, sender?: string) => {
    const changes: RunSearch[] = [];
    shown(
      <RunFilters search={search} sender={sender} put={(change) => changes.push(change)} clear={() => undefined} />,
    );
    return changes;
  };

  it("is shown by the sender's name and removed by a click, without the others", () => {
    const changes = filters({ actor: "470", bot: "b" }, "Ann");
    fireEvent.click(screen.getByRole("button", { name: "Sender: Ann" }));
    expect(changes).toEqual([{ actor: undefined }]);
  });

  it("shows no id where the name is not known, and nothing where it is not set", () => {
    filters({ actor: "0a1b2c3d-0000-4000-8000-000000000000" });
    expect(screen.getByRole("button", { name: en.runs.oneSender })).toBeTruthy();
    expect(document.body.textContent).not.toContain("0a1b2c3d");
    document.body.innerHTML = "";
    filters({ q: "tea" }, "Ann");
    expect(screen.queryByRole("button", { name: /Ann|sender/i })).toBeNull();
  });

  it("goes with the bot, which the id belongs to", () => {
    const changes = filters({ actor: "470", bot: "b" }, "Ann");
    fireEvent.change(screen.getByRole("combobox", { name: en.runs.bot }), { target: { value: "direct" } });
    expect(changes).toEqual([{ bot: "direct", actor: undefined }]);
  });
});

describe("to cancel a run", () => {
  const cancel = () => screen.getAllByRole("button", { name: en.runs.cancel, hidden: true });

  it("is asked about first, and done once that is confirmed", async () => {
    shown(<CancelRun runId="r1" />);
    fireEvent.click(cancel()[0]!);
    expect(screen.getByText(en.runs.cancelText)).toBeTruthy();
    expect(asked).toEqual([]);

    fireEvent.click(cancel()[1]!);
    await waitFor(() => expect(asked).toEqual(["POST /api/v1/runs/r1/cancel"]));
    await waitFor(() => expect(screen.queryByText(en.runs.cancelText)).toBeNull());
  });

  it("is not done when the run is to go on", async () => {
    shown(<CancelRun runId="r1" />);
    fireEvent.click(cancel()[0]!);
    fireEvent.click(screen.getByRole("button", { name: en.runs.cancelKeep, hidden: true }));
    await waitFor(() => expect(screen.queryByText(en.runs.cancelText)).toBeNull());
    expect(asked).toEqual([]);
  });
});

it("says on a page that is not there, as its heading, that it is not", async () => {
  const router = createRouter({
    routeTree: createRootRoute({ component: NotFoundPage }),
    history: createMemoryHistory(),
  });
  render(<RouterProvider router={router as never} />);
  expect((await screen.findByRole("heading", { level: 1 })).textContent).toBe(en.errors.missing);
});
