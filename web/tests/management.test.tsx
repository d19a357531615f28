// Budgets, usage, plugins' permissions, MCP servers, settings and first steps: what they know without a screen.
import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import { Problem, readable, withoutInternals } from "../src/api/problem";
import type { Bot, Budget, FormItem, McpServer, Model, Settings, UsageItem } from "../src/api/types";
import { ErrorMessage } from "../src/components/Feedback";
import { Pairs, SEALED } from "../src/components/form/pairs";
import {
  bodyOf as budgetBody,
  draftOf as budgetDraft,
  FRESH as NO_BUDGET,
  share,
  subjectName,
} from "../src/features/models/budget";
import { KeyList } from "../src/features/models/KeyList";
import { pricesOf, textsOf } from "../src/features/models/prices";
import { lastDays, summed } from "../src/features/models/usageModel";
import { askedIn, grantsOf } from "../src/features/plugins/grants";
import { manageable } from "../src/features/settings/roles";
import { changesOf, valuesOf } from "../src/features/settings/tunable";
import { doneOf, firstWorking, nextOf } from "../src/features/start/steps";
import { FRESH as NO_SERVER, bodyOf as serverBody, draftOf as serverDraft } from "../src/features/tools/server";

describe("a budget", () => {
  const budget: Budget = {
    budget_id: "b",
    name: "A day",
    scope: "sender",
    target: "",
    period: "day",
    tokens: null,
    cost_micros: 2_500_000,
    enabled: true,
    current_period: "",
    uses: [],
  };

  it("is written in money and kept in millionths", () => {
    expect(budgetDraft(budget)).toMatchObject({ money: "2.5", tokens: "" });
    expect(budgetBody({ ...budgetDraft(budget), money: "0.1" })).toMatchObject({ cost_micros: 100_000, tokens: null });
  });

  it("of the whole workspace has no single subject", () => {
    expect(budgetBody({ ...NO_BUDGET, scope: "workspace", target: "somebody", tokens: "5" })).toMatchObject({
      target: "",
      tokens: 5,
    });
  });

  it("names its subject if it is known", () => {
    expect(subjectName("b1/user:7", { b1: "Front desk" })).toBe("Front desk · 7");
    expect(subjectName("a1", { a1: "Assistant" })).toBe("Assistant");
    expect(subjectName("user:u1", {})).toBe("u1");
  });

  it("is used as much as its nearer limit", () => {
    const use = { subject: "s", used: { tokens: 10, cost_micros: 90 }, left: { tokens: 90, cost_micros: 10 } };
    expect(share(use)).toBe(0.9);
    expect(share({ ...use, left: { tokens: 90, cost_micros: null } })).toBe(0.1);
    expect(share({ ...use, left: { tokens: 0, cost_micros: null } })).toBe(1);
  });
});

describe("a refusal", () => {
  const refusal = (field: string, message: string) =>
    readable(new Problem(422, "invalid_argument", message, { fields: [{ field, message }] }));

  it("names the field by its label, not by its path", () => {
    expect(refusal("workspace.time_zone", "workspace.time_zone: must be a time zone")).toBe(
      "time zone: must be a time zone",
    );
    expect(refusal("filters.users.0", "filters.users.0: is empty")).toBe("users: is empty");
  });

  it("names the field as its form does", () => {
    const item = {
      name: "url",
      label: { en_US: "Address", zh_Hans: "地址" },
      type: "string",
    } as Partial<FormItem> as FormItem;
    const field = "adapter_config.url";
    render(
      <ErrorMessage
        error={
          new Problem(422, "invalid_argument", `${field}: must be one`, { fields: [{ field, message: "must be one" }] })
        }
        items={[item]}
      />,
    );
    expect(screen.getByRole("alert").textContent).toBe("Address: must be one");
  });

  it("is shown without requests and ids", () => {
    render(
      <ErrorMessage
        error={
          new Problem(
            404,
            "not_found",
            "run '01a1ed74-3a62-7049-80ce-ba243fd98430' does not exist; GET /api/v1/runs lists them",
          )
        }
      />,
    );
    expect(screen.getByRole("alert").textContent).toBe("Run does not exist");
  });

  it("that is already a sentence is unchanged", () => {
    expect(refusal("name", "another agent is called so")).toBe("another agent is called so");
    expect(readable(new Problem(409, "in_use", "it is in use"))).toBe("it is in use");
  });
});

describe("prices", () => {
  it("come back as they were written", () => {
    const prices = { input: 2.5, output: 0, cached_input: null };
    expect(pricesOf(textsOf(prices))).toEqual(prices);
    expect(textsOf(prices)).toEqual({ input: "2.5", output: "0", cached_input: "" });
  });

  it("without a value are unknown, which is not the same as free", () => {
    expect(pricesOf(textsOf(null))).toBeNull();
    expect(pricesOf({ input: "0", output: "", cached_input: "" })).toEqual({ input: 0, output: 0, cached_input: null });
  });
});

describe("usage", () => {
  const item = (change: Partial<UsageItem>): UsageItem => ({
    day: "2026-01-01",
    agent_id: "a",
    agent_name: "Ann",
    model_id: "m",
    model_name: "Big",
    calls: 1,
    prompt_tokens: 10,
    completion_tokens: 5,
    cost_micros: 0,
    unpriced_calls: 0,
    ...change,
  });

  it("counts the calls that the Host counted", () => {
    expect(summed([item({ calls: 3 }), item({ calls: 0 })], "model").map((row) => row.calls)).toEqual([3]);
  });

  it("is added up by model, the dearest first", () => {
    const rows = summed(
      [item({}), item({ day: "2026-01-02" }), item({ model_id: "n", model_name: null, cost_micros: 7 })],
      "model",
    );
    expect(rows.map((row) => [row.name, row.calls, row.input, row.output, row.cost])).toEqual([
      ["", 1, 10, 5, 7],
      ["Big", 2, 20, 10, 0],
    ]);
    expect([...rows[1]!.days]).toEqual([
      ["2026-01-01", 15],
      ["2026-01-02", 15],
    ]);
  });

  it("of no agent is still counted", () => {
    expect(summed([item({ agent_id: null, agent_name: null })], "agent")).toHaveLength(1);
  });

  it("includes days without calls", () => {
    expect(lastDays("2026-03-01", 3)).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
  });
});

describe("a plugin's permissions", () => {
  it("are granted one by one, each with its words", () => {
    expect(grantsOf({ models: ["invoke"], events: ["*", "message.received"], network: ["api.example.org"] })).toEqual([
      { name: "models:invoke", word: "models.invoke", values: {} },
      { name: "events:*", word: "events.all", values: {} },
      { name: "events:message.received", word: "events.some", values: { events: "message.received" } },
      { name: "network:api.example.org", word: "network.unfiltered", values: { hosts: "api.example.org" } },
    ]);
  });

  it("are read out of a refusal, also out of one that names none", () => {
    expect(askedIn({ asked: { tools: ["call"] } })).toEqual({ tools: ["call"] });
    expect(askedIn(null)).toEqual({});
  });
});

describe("an MCP server", () => {
  it("over stdio has a command and its arguments, and no address", () => {
    const body = serverBody({
      ...NO_SERVER,
      name: "files",
      transport: "stdio",
      url: "https://old",
      command: "npx\n-y\nserver",
      environment: { TOKEN: "a" },
    });
    expect(body).toEqual({
      name: "files",
      transport: "stdio",
      enabled: true,
      command: "npx",
      arguments: ["-y", "server"],
      environment: { TOKEN: "a" },
      sandboxed: true,
      network: false,
      mounts: [],
      memory_mb: 0,
      restart: "always",
    });
  });

  it("over the network comes back with its headers, sealed as they are", () => {
    const server = {
      name: "docs",
      transport: "http",
      url: "https://h/mcp",
      headers: { Authorization: SEALED },
      environment: {},
      command: "",
      arguments: [],
      mounts: [],
      enabled: false,
    } as unknown as McpServer;
    expect(serverBody(serverDraft(server))).toEqual({
      name: "docs",
      transport: "http",
      enabled: false,
      url: "https://h/mcp",
      headers: { Authorization: SEALED },
    });
  });
});

describe("sealed values", () => {
  it("in pairs are not shown, stay when another is changed, and are replaced by what is typed", () => {
    let value: Record<string, string> = {};
    render(
      <Pairs control={{ id: "x" }} value={{ Token: SEALED, Other: "plain" }} onChange={(next) => (value = next)} />,
    );
    const secret = screen.getByLabelText("Value Token") as HTMLInputElement;
    expect(secret.value).toBe("");
    fireEvent.change(screen.getByLabelText("Value Other"), { target: { value: "new" } });
    expect(value).toEqual({ Token: SEALED, Other: "new" });
    fireEvent.change(secret, { target: { value: "secret" } });
    expect(value).toEqual({ Token: "secret", Other: "new" });
  });

  it("of a provider stay in their places", () => {
    let value: string[] = [];
    render(<KeyList control={{ id: "x" }} value={[SEALED, SEALED]} required onChange={(next) => (value = next)} />);
    fireEvent.change(screen.getByLabelText("API key 2"), { target: { value: "sk-new" } });
    expect(value).toEqual([SEALED, "sk-new"]);
  });
});

describe("a sentence of the Host", () => {
  const label = (name: string) => (name === "api_base_url" ? "API address" : "");

  it.each([
    ["run '01a1ed74-3a62-7049-80ce-ba243fd98430' does not exist; GET /api/v1/runs lists them", "run does not exist"],
    ["what answers at api_base_url is not the Bot API", "what answers at “API address” is not the Bot API"],
    ["it is off; restart it; see POST /api/v1/plugins/a/b/restart", "it is off; restart it"],
    ["the key was refused", "the key was refused"],
    ["GET /api/v1/runs lists them", "GET /api/v1/runs lists them"],
  ])("%s", (said, shown) => {
    expect(withoutInternals(said, label)).toBe(shown);
  });
});

describe("settings", () => {
  const settings: Settings = {
    retention: {
      events_days: 365,
      run_events_days: 30,
      artifacts_days: 90,
      audit_days: 365,
      model_calls_days: 7,
      directory_days: 90,
      heard_days: 30,
    },
    runs: { concurrent: 1, per_person: 1, per_sender_per_minute: 1, per_conversation_per_minute: 1 },
    workspace: {
      time_zone: "UTC",
      language: "en",
      command_prefixes: ["/"],
      admin_commands: [],
      outbound_ips: [],
      currency: "",
    },
    logs: { level: "info" },
    changed: [],
  };

  it("are sent as far as they were changed", () => {
    const before = valuesOf(settings);
    expect(changesOf(before, before)).toEqual({});
    expect(changesOf(before, { ...before, "retention.audit_days": 0, "workspace.outbound_ips": ["1.2.3.4"] })).toEqual({
      retention: { audit_days: 0 },
      workspace: { outbound_ips: ["1.2.3.4"] },
    });
  });

  it("let admins manage operators and viewers, and let viewers manage none", () => {
    expect(manageable("owner")).toContain("owner");
    expect(manageable("admin")).toEqual(["operator", "viewer"]);
    expect(manageable("viewer")).toEqual([]);
  });
});

describe("first steps", () => {
  const bot = (bot_id: string, state: string, enabled = true) => ({ bot_id, enabled, status: { state } }) as Bot;
  const nothing = { models: [{ provider_id: "demo" } as Model], answered: 0, bots: [], heard: new Set<string>() };

  it("begin with saying hello, for which the demo model is enough", () => {
    expect(nextOf(doneOf(nothing))).toBe("chat");
    expect(nextOf(doneOf({ ...nothing, answered: 1 }))).toBe("model");
  });

  it("end when the first message arrived", () => {
    const known = {
      models: [{ provider_id: "p" } as Model],
      answered: 1,
      bots: [bot("one", "connected")],
      heard: new Set<string>(),
    };
    expect(nextOf(doneOf(known))).toBe("message");
    expect(nextOf(doneOf({ ...known, heard: new Set(["one"]) }))).toBeNull();
  });

  it("follow the first bot that works, not the first one", () => {
    const bots = [
      bot("broken", "failed"),
      bot("off", "connected", false),
      bot("quiet", "connected"),
      bot("busy", "connected"),
    ];
    expect(firstWorking(bots, new Set())?.bot_id).toBe("quiet");
    expect(firstWorking(bots, new Set(["busy"]))?.bot_id).toBe("busy");
    expect(firstWorking(bots.slice(0, 1), new Set())?.bot_id).toBe("broken");
    const known = {
      models: [{ provider_id: "p" } as Model],
      answered: 1,
      bots: bots.slice(0, 1),
      heard: new Set<string>(),
    };
    expect(nextOf(doneOf(known))).toBe("platform");
    expect(nextOf(doneOf({ ...known, bots, heard: new Set(["busy"]) }))).toBeNull();
  });
});
