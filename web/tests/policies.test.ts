// The policies of an agent: only what its runner requests is offered, and what is edited is sent back complete.
import { describe, expect, it } from "vitest";

import type { Runner } from "../src/api/types";
import { freshRule, patternsFor, policyOf, rulesOf } from "../src/features/agents/approvalRules";
import { requestedActions, requestedKinds } from "../src/features/agents/permissions";
import { chosen, senderRulesOf } from "../src/features/agents/senderRulesModel";

const runner = (permissions: Record<string, string[]>, capabilities: Record<string, boolean> = {}) =>
  ({ permissions, capabilities }) as unknown as Runner;

describe("what is offered", () => {
  it("is what the runner asks for and is able to use", () => {
    const asks = { models: ["invoke"], tools: ["call"], skills: ["list"], knowledge_bases: [] };
    expect(requestedKinds(runner(asks, { tool_calling: true, skills: false }))).toEqual(["models", "tools"]);
    expect(requestedKinds(undefined)).toEqual([]);
  });

  it("has no actions for a runner that takes none", () => {
    expect(requestedActions(runner({ platform_actions: ["message.*"] }))).toEqual([]);
    expect(requestedActions(runner({ platform_actions: ["message.*"] }, { platform_actions: true }))).toEqual([
      "message.*",
    ]);
  });

  it("names actions and their families, and other chats only when they are asked for", () => {
    expect(patternsFor(["member.kick"])).toEqual(["*", "member.*", "member.kick"]);
    expect(patternsFor(["elsewhere/message.send"])).toEqual(["elsewhere/*", "elsewhere/message.send"]);
    expect(patternsFor(["*"])).toContain("message.send");
  });
});

describe("an approval policy", () => {
  it("comes back as it was", () => {
    const policy = {
      "message.*": "allow",
      "member.kick": {
        decision: "ask",
        who: { users: ["1"], roles: ["owner"], requester: true },
        seconds: 60,
        show_in: null,
      },
    };
    expect(policyOf(rulesOf(policy))).toEqual(policy);
  });

  it("asks owners and admins for half an hour by default", () => {
    expect(policyOf([freshRule("group.leave")])).toEqual({
      "group.leave": {
        decision: "ask",
        who: { users: [], roles: ["owner", "admin"], requester: false },
        seconds: 1800,
        show_in: null,
      },
    });
  });

  it("drops the deciders of an action that needs no approval", () => {
    const [rule] = rulesOf({ "member.kick": { decision: "ask", seconds: 60 } });
    expect(policyOf([{ ...rule!, decision: "deny" }])).toEqual({ "member.kick": "deny" });
  });
});

describe("a rule for senders", () => {
  it("that names nothing of a kind says nothing about it", () => {
    expect(chosen({ tools: ["a"], models: "*" }, "tools", [])).toEqual({ models: "*" });
    expect(chosen({}, "tools", "*")).toEqual({ tools: "*" });
  });

  it("is read with what the Host leaves out", () => {
    expect(senderRulesOf({ rules: [{ when: { roles: ["admin"] } }] })).toEqual([
      { when: { users: [], groups: [], roles: ["admin"], chat_type: "" }, allow: {}, deny: {} },
    ]);
    expect(senderRulesOf({})).toEqual([]);
  });
});
