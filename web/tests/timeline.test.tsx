// A run's records, as a person reads them.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import { me } from "../src/api/queries";
import type { RunEvent } from "../src/api/types";
import { durationOf } from "../src/features/runs/comparisonModel";
import { Timeline } from "../src/features/runs/Timeline";
import { barOf, startOf, type Step, timeline } from "../src/features/runs/timelineModel";

let sequence = 0;
const event = (type: string, data: RunEvent["data"]): RunEvent => ({
  sequence: ++sequence,
  type,
  data,
  source: "host",
  created_at: 1_794_798_494_556,
  artifact_refs: [],
  run_id: "r",
  metadata: {},
  first_sequence: null,
  last_sequence: null,
});

const delivery = (state: "sent" | "failed", updated_at: number, reason: string | null = null) =>
  ({
    outbox_id: "o",
    kind: "message",
    state,
    surface: "platform",
    bot_id: null,
    text: null,
    reason,
    updated_at,
  }) as const;

const MODEL = event("model.called", {
  name: "m1",
  outcome: "answered",
  milliseconds: 1400,
  usage: { prompt_tokens: 29, completion_tokens: 65, cost_micros: 1200 },
});
const END = event("run.completed", { finish_reason: "stop" });

describe("a timeline", () => {
  it("leaves out fragments, whose whole comes anyway, and keeps thinking apart", () => {
    const steps = timeline([
      event("message.delta", { chunk: {} }),
      event("message.completed", { message: { content: "Hi", reasoning: "A greeting." } }),
    ]);
    expect(steps.map((step) => [step.kind, step.text, step.thinking])).toEqual([["message", "Hi", "A greeting."]]);
  });

  it("shows a tool call as one step, with arguments, result, and the duration that the Host measured", () => {
    const steps = timeline([
      event("tool.call.started", { tool_call_id: "1", tool_name: "time.now", parameters: { zone: "UTC" } }),
      event("tool.call.completed", { tool_call_id: "1", tool_name: "time.now", result: "noon", error: null }),
      event("tool.called", { name: "time.now", outcome: "answered", milliseconds: 3 }),
    ]);
    expect(steps).toHaveLength(1);
    expect(steps[0]).toMatchObject({
      kind: "tool",
      name: "time.now",
      milliseconds: 3,
      failed: false,
      given: { zone: "UTC" },
      gave: "noon",
    });
  });

  it("pairs two calls of one tool with their own times, and keeps one that only the Host knows of", () => {
    const call = (id: string) => [
      event("tool.call.started", { tool_call_id: id, tool_name: "a" }),
      event("tool.call.completed", { tool_call_id: id, tool_name: "a", result: id }),
    ];
    const called = (name: string, milliseconds: number) =>
      event("tool.called", { name, outcome: "answered", started_at: milliseconds, milliseconds });
    const steps = timeline([...call("1"), called("a", 10), ...call("2"), called("a", 20), called("b", 30)]);
    expect(steps.map((step) => [step.name, step.gave, step.milliseconds])).toEqual([
      ["a", "1", 10],
      ["a", "2", 20],
      ["b", undefined, 30],
    ]);
  });

  it("shows a tool that has not answered yet as running", () => {
    expect(timeline([event("tool.call.started", { tool_call_id: "1", tool_name: "slow" })])[0]).toMatchObject({
      kind: "tool",
      name: "slow",
      state: "running",
    });
  });

  it("begins with the event and ends with what was delivered, with denials between in their time", () => {
    const at = MODEL.created_at;
    const around = {
      event: {
        event_id: "e",
        event_type: "message.received",
        source: "qq",
        actor_name: "Ann",
        input_summary: "Hello",
        created_at: at - 10,
      },
      denials: [{ action: "call_tool", resource: "web.fetch", code: "unauthorized", created_at: at - 5 }],
      deliveries: [delivery("failed", at + 5, "the platform is gone")],
    };
    const steps = timeline([END, MODEL], around);
    expect(steps.map((step) => step.kind)).toEqual(["event", "model", "denial", "end", "delivery"]);
    expect(steps.at(-1)).toMatchObject({ failed: true, state: "failed", text: "the platform is gone" });
  });

  it("places a step within the whole", () => {
    const step = { at: 800, milliseconds: 400 } as Step;
    expect(barOf(step, 0, 1600)).toEqual({ left: 0.5, width: 0.25 });
    expect(barOf({ at: 800 } as Step, 0, 1000)).toBeNull();
    expect(barOf(step, 500, 500)).toBeNull();
  });

  it("is in the order in which things began, though calls are written down late and all at once", () => {
    const at = (milliseconds: number) => 1_794_798_494_000 + milliseconds;
    const written = { ...event("message.completed", { message: { content: "done" } }), created_at: at(900) };
    const call = (type: string, name: string, began: number, milliseconds: number) => ({
      ...event(type, { name, outcome: "answered", started_at: at(began), milliseconds }),
      created_at: at(950),
    });
    const end = { ...END, created_at: at(960) };
    const calls = [
      call("model.called", "m1", 10, 300),
      call("tool.called", "web.fetch", 310, 90),
      call("model.called", "m1", 400, 490),
    ];
    const run = { created_at: at(0), started_at: at(0), finished_at: at(961), deliveries: [delivery("sent", at(905))] };

    const steps = timeline([written, ...calls, end], run);

    expect(steps.map((step) => [step.kind, step.at - startOf(steps, run)])).toEqual([
      ["model", 10],
      ["tool", 310],
      ["model", 400],
      ["message", 900],
      ["delivery", 905],
      ["end", 961],
    ]);
    expect(steps.at(-1)!.at - startOf(steps, run)).toBe(durationOf(run));
  });

  it("counts every offset from the start of the run, also where the event had waited", () => {
    const at = 1_794_798_494_000;
    const run = {
      run_id: "r",
      created_at: at,
      started_at: at + 5,
      finished_at: at + 2005,
      event: {
        event_id: "e",
        event_type: "message.received",
        source: "qq",
        actor_name: "Ann",
        input_summary: "Hello",
        created_at: at - 3995,
      },
    };
    const called = {
      ...event("model.called", { name: "m1", outcome: "answered", started_at: at + 505, milliseconds: 1000 }),
      created_at: at + 1600,
    };
    const { container } = render(
      <Timeline steps={timeline([called, { ...END, created_at: at + 2004 }], run)} names={new Map()} run={run} />,
    );
    expect([...container.querySelectorAll("time")].map((time) => time.textContent)).toEqual([
      "−4.0 s",
      "+500 ms",
      "+2.0 s",
    ]);
  });

  it("offers the prompt of a call that was recorded, and of no other, to readers who may see it", () => {
    const run = { run_id: "r", created_at: 1, started_at: 1 };
    const recorded = event("model.called", {
      name: "m1",
      outcome: "answered",
      call_id: "c1",
      started_at: 1,
      milliseconds: 3,
    });
    const shown = (opensCalls: boolean) => (
      <QueryClientProvider client={new QueryClient()}>
        <Timeline steps={timeline([recorded, MODEL], run)} names={new Map()} run={run} opensCalls={opensCalls} />
      </QueryClientProvider>
    );
    const { rerender } = render(shown(true));
    expect(screen.getAllByRole("button", { name: "Prompt, parameters and answer" })).toHaveLength(1);
    rerender(shown(false));
    expect(screen.queryByRole("button", { name: "Prompt, parameters and answer" })).toBeNull();
  });

  it("ends with the end, although calls are written down after it", () => {
    expect(timeline([END, MODEL]).map((step) => step.kind)).toEqual(["model", "end"]);
  });

  it("has what was decided before the end before it, and what was decided later after it", () => {
    const decided = (status: string, at: number) => ({
      ...event("approval.decided", { action: "member.kick", status, decided_by: "user:1", reason: null }),
      created_at: END.created_at + at,
    });
    const steps = timeline([END, decided("denied", 9), decided("approved", -1)]);
    expect(steps.map((step) => [step.kind, step.state])).toEqual([
      ["approval", "approved"],
      ["end", undefined],
      ["approval", "denied"],
    ]);
  });

  it("marks what went wrong", () => {
    const steps = timeline([
      event("model.called", { name: "m1", outcome: "provider_unreachable" }),
      event("action.decided", { action: "mute_member", status: "refused", message: "not granted" }),
      event("run.failed", { code: "runner.error", error: "it broke" }),
    ]);
    expect(steps.map((step) => [step.kind, step.failed, step.text])).toEqual([
      ["model", true, "provider_unreachable"],
      ["action", true, "not granted"],
      ["failure", true, "it broke"],
    ]);
  });

  it("has the words with which a run ended", () => {
    const steps = timeline([event("run.completed", { finish_reason: "stop", message: { content: "Bye" } })]);
    expect(steps.map((step) => [step.kind, step.text])).toEqual([
      ["message", "Bye"],
      ["end", ""],
    ]);
  });

  it("shows changes of state and created files", () => {
    const made = {
      ...event("artifact.created", { name: "plan.pdf", artifact_id: "a1" }),
      artifact_refs: [{ artifact_id: "a1", name: "plan.pdf" }],
    };
    const [state, file] = timeline([
      event("state.updated", { scope: "actor", key: "tea", value: { green: true } }),
      made,
    ]);
    expect(state).toMatchObject({ kind: "state", name: "actor.tea", text: '{"green":true}' });
    expect(file).toMatchObject({
      kind: "artifact",
      name: "plan.pdf",
      files: [{ artifact_id: "a1", name: "plan.pdf" }],
    });
  });

  it("joins values that are stored one after the other", () => {
    const stored = (key: string) => event("state.updated", { scope: "conversation", key, value: key.length });
    const [joined, ...rest] = timeline([stored("a"), stored("bb"), stored("ccc")]);
    expect(rest).toEqual([]);
    expect(joined).toMatchObject({
      kind: "state",
      name: "",
      text: "conversation.a: 1\nconversation.bb: 2\nconversation.ccc: 3",
      detail: [{ key: "a" }, { key: "bb" }, { key: "ccc" }],
    });
  });

  it("keeps what it does not know", () => {
    expect(timeline([event("later.invention", {})])[0]).toMatchObject({ kind: "other", name: "later.invention" });
  });

  it("is drawn with its decider, if there is one", () => {
    const decided = (data: object) => event("approval.decided", { action: "member.kick", reason: null, ...data });
    const client = new QueryClient();
    client.setQueryData(me.queryKey, { user_id: "u1", name: "Ann", email: "ann@example.org", role: "owner" } as never);
    const steps = timeline([
      decided({ status: "approved", decided_by: "user:u1" }),
      decided({ status: "denied", decided_by: "user:10001", reason: "she is nice" }),
      decided({ status: "expired", decided_by: null, reason: "nobody decided in time" }),
    ]);
    render(
      <QueryClientProvider client={client}>
        <Timeline steps={steps} names={new Map()} />
      </QueryClientProvider>,
    );
    expect(screen.getAllByText(/^Decided by/).map((line) => line.textContent)).toEqual([
      "Decided by Ann.",
      "Decided by 10001.",
    ]);
    expect(screen.getByText("she is nice")).toBeTruthy();
    expect(screen.getByText("Expired")).toBeTruthy();
    expect(screen.queryByText("nobody decided in time")).toBeNull();
  });

  it("is drawn with tokens, cost and the model's name", () => {
    render(<Timeline steps={timeline([MODEL, END])} names={new Map([["m1", "deepseek-chat"]])} />);
    expect(screen.getByText("deepseek-chat")).toBeTruthy();
    expect(screen.getByText("29 tokens in, 65 out")).toBeTruthy();
    expect(screen.getByText("cost 0.0012")).toBeTruthy();
    expect(screen.getByText("1.4 s")).toBeTruthy();
  });
});
