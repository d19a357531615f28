// A run's records, as a person reads them.
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import type { RunEvent } from "../src/api/facts";
import { Timeline } from "../src/features/runs/Timeline";
import { timeline } from "../src/features/runs/timeline";

let sequence = 0;
const event = (type: string, data: RunEvent["data"]): RunEvent => ({ sequence: ++sequence, type, data, source: "host", created_at: 1_794_798_494_556, artifact_refs: [] });

const MODEL = event("model.called", { name: "m1", outcome: "answered", milliseconds: 1400, usage: { prompt_tokens: 29, completion_tokens: 65, cost_micros: 1200 } });
const END = event("run.completed", { finish_reason: "stop" });

describe("a timeline", () => {
  it("leaves out fragments and beginnings, whose whole comes anyway", () => {
    const steps = timeline([event("message.delta", { chunk: {} }), event("tool.call.started", { tool_name: "a" }), event("message.completed", { message: { content: "Hi" } })]);
    expect(steps.map((step) => step.kind)).toEqual(["message"]);
    expect(steps[0]?.text).toBe("Hi");
  });

  it("tells a tool once, by the Host's account of it", () => {
    const steps = timeline([event("tool.call.completed", { tool_name: "time.now" }), event("tool.called", { name: "time.now", outcome: "answered", milliseconds: 3 })]);
    expect(steps).toHaveLength(1);
    expect(steps[0]).toMatchObject({ kind: "tool", name: "time.now", milliseconds: 3, failed: false });
  });

  it("ends with the end, although calls are written down after it", () => {
    expect(timeline([END, MODEL]).map((step) => step.kind)).toEqual(["model", "end"]);
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

  it("keeps what it does not know", () => {
    expect(timeline([event("later.invention", {})])[0]).toMatchObject({ kind: "other", name: "later.invention" });
  });

  it("is drawn with tokens, cost and the model's name", () => {
    render(<Timeline steps={timeline([MODEL, END])} names={new Map([["m1", "deepseek-chat"]])} />);
    expect(screen.getByText("deepseek-chat")).toBeTruthy();
    expect(screen.getByText("29 tokens in, 65 out")).toBeTruthy();
    expect(screen.getByText("cost 0.0012")).toBeTruthy();
    expect(screen.getByText("1.4 s")).toBeTruthy();
  });
});
