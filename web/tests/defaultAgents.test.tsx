// Default agents: what is sent for each scope, which of them concern a bot, and the selector of one conversation.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { Middleware } from "openapi-fetch";
import { afterEach, describe, expect, it } from "vitest";

import { api } from "../src/api/client";
import type { Conversation, DefaultAgent } from "../src/api/types";
import { AgentHere } from "../src/features/bots/DefaultAgents";
import {
  bodyOf,
  findDefault,
  type Place,
  placeOf,
  relevantTo,
  requiredFields,
} from "../src/features/bots/defaultScopes";

const FULL: Place = {
  scope: "thread",
  bot_id: "b",
  platform: "onebot11",
  chat: " group:5 ",
  thread_id: "t",
  actor_id: "7",
};
const known = (change: Partial<DefaultAgent>): DefaultAgent => ({
  default_id: "d",
  scope: "conversation",
  platform: null,
  bot_id: "b",
  chat: "group:5",
  thread_id: null,
  actor_id: null,
  agent_id: "a1",
  agent_name: "Ann",
  agent_enabled: true,
  bot_name: "Bot",
  created_at: 1,
  updated_at: 1,
  ...change,
});
const CHAT: Conversation = {
  conversation_id: "c",
  source: "onebot11",
  bot_id: "b",
  chat: "group:5",
  thread_id: null,
  agent_id: null,
  created_at: 1,
  updated_at: 1,
  items: 1,
  workspace_id: "w",
};

describe("a place", () => {
  it("is sent with exactly the fields of its scope", () => {
    expect(bodyOf(FULL)).toEqual({ scope: "thread", bot_id: "b", chat: "group:5", thread_id: "t" });
    expect(bodyOf({ ...FULL, scope: "actor" })).toEqual({ scope: "actor", platform: "onebot11", actor_id: "7" });
    expect(bodyOf({ ...FULL, scope: "workspace" })).toEqual({ scope: "workspace" });
    expect(requiredFields("channel")).toEqual(["chat"]);
  });

  it("concerns a bot if it is there, on its platform, or everywhere", () => {
    const all = [
      known({}),
      known({ bot_id: "other" }),
      known({ scope: "channel", bot_id: null, platform: "telegram" }),
      known({ scope: "actor", bot_id: null, platform: "onebot11", actor_id: "7" }),
      known({ scope: "workspace", bot_id: null }),
    ];
    expect(relevantTo(all, "b", "onebot11")).toEqual([all[0], all[3], all[4]]);
  });

  it("of a conversation is its thread where it has one, and none in the web chat", () => {
    expect(placeOf({ ...CHAT, thread_id: "t" })).toMatchObject({ scope: "thread", thread_id: "t" });
    expect(placeOf({ ...CHAT, source: "webui", bot_id: null })).toBeNull();
    expect(findDefault([known({ scope: "thread", thread_id: "t" })], placeOf(CHAT)!)).toBeUndefined();
    expect(findDefault([known({})], placeOf(CHAT)!)).toMatchObject({ agent_id: "a1" });
  });
});

describe("the agent of a conversation", () => {
  let host: Middleware;
  afterEach(() => api.eject(host));

  it("is chosen from all agents and names the one it replaces", async () => {
    const sent: unknown[] = [];
    const page = (items: unknown[]) => ({ items, next_cursor: null });
    const answers: Record<string, unknown> = {
      "/api/v1/auth/me": { role: "admin" },
      "/api/v1/conversations/c": CHAT,
      "/api/v1/default-agents": page([known({})]),
      "/api/v1/agents": page([
        { agent_id: "a1", name: "Ann" },
        { agent_id: "a2", name: "Bob" },
      ]),
    };
    host = {
      async onRequest({ request }) {
        if (request.method === "PUT") sent.push(await request.json());
        return Response.json(answers[new URL(request.url).pathname] ?? {});
      },
    };
    api.use(host);
    render(
      <QueryClientProvider client={new QueryClient()}>
        <AgentHere conversationId="c" />
      </QueryClientProvider>,
    );
    const select = (await screen.findByRole("combobox")) as HTMLSelectElement;
    await waitFor(() => expect(select.disabled).toBe(false));
    await waitFor(() => expect(select.value).toBe("a1"));
    fireEvent.change(select, { target: { value: "a2" } });
    await waitFor(() =>
      expect(sent).toEqual([{ scope: "conversation", bot_id: "b", chat: "group:5", agent_id: "a2", replaces: "a1" }]),
    );
  });
});
