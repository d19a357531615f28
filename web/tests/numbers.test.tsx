// Amounts and times on the page: each amount with its currency, each time with its date.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import i18next from "i18next";
import type { Middleware } from "openapi-fetch";
import { type ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { api } from "../src/api/client";
import type { Model, Run, UsageItem } from "../src/api/types";
import { ModelRow } from "../src/features/models/ModelRow";
import { Usage } from "../src/features/models/Usage";
import { RunRow } from "../src/features/runs/RunRow";
import { setCurrency } from "../src/lib/format";

const ID = "01a1ed74-3a62-7049-80ce-ba243fd98430";
const ITEM: UsageItem = {
  day: "2026-01-01",
  agent_id: "a",
  agent_name: "Ann",
  model_id: "m",
  model_name: "Big",
  calls: 2,
  prompt_tokens: 10,
  completion_tokens: 5,
  cost_micros: 1_500_000,
  unpriced_calls: 0,
};

let host: Middleware;
let used: UsageItem[];
beforeEach(() => {
  used = [ITEM];
  host = {
    onRequest: ({ request }) =>
      Response.json(request.url.includes("/auth/me") ? { role: "viewer" } : { items: used, next_cursor: null }),
  };
  api.use(host);
  setCurrency("EUR");
});
afterEach(() => {
  api.eject(host);
  setCurrency("");
});

const shown = (children: ReactNode) =>
  render(<QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>);

describe("usage", () => {
  it("is shown with its currency, its calls, and the dates that it is of", async () => {
    shown(<Usage />);
    const row = await screen.findByRole("row", { name: /Big/ });
    expect([...row.querySelectorAll("td")].slice(1).map((cell) => cell.textContent)).toEqual(["2", "10", "5", "€1.50"]);
    const date = (days: number) =>
      new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" }).format(Date.now() - days * 86_400_000);
    expect(screen.getByText(`${date(30)} to ${date(0)}`)).toBeTruthy();
  });

  it("of a deleted model is shown without its id", async () => {
    used = [{ ...ITEM, model_id: ID, model_name: null }];
    shown(<Usage />);
    expect(await screen.findByRole("row", { name: /Deleted model/ })).toBeTruthy();
    expect(document.body.textContent).not.toContain(ID);
  });
});

it("shows the prices of a model with the currency", () => {
  const model: Model = {
    model_id: "m",
    provider_id: "p",
    name: "Big",
    type: "llm",
    context_window: null,
    max_output_tokens: null,
    abilities: [],
    prices: { input: 2, output: 12.5, cached_input: null },
    parameters: {},
  };
  shown(<ModelRow model={model} fixed currency="USD" />);
  expect(screen.getByText(/€2\b.*€12\.50/)).toBeTruthy();
});

it("shows a run in the list with its date and what it cost", () => {
  const at = new Date(2019, 2, 4, 9, 5, 7).getTime();
  const run = {
    run_id: "r",
    status: "completed",
    created_at: at,
    started_at: at,
    finished_at: at + 50,
    bot_id: null,
    agent_name: "Ann",
    usage: { cost_micros: 1_500_000 },
  } as unknown as Run;
  shown(
    <ul>
      <RunRow run={run} names={new Map()} start={0} index={0} t={i18next.t} language="en" />
    </ul>,
  );
  expect(document.querySelector("time")!.textContent).toBe("Mar 4, 2019, 09:05:07");
  expect(screen.getByText("€1.50")).toBeTruthy();
});
