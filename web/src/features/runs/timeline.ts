// A run's records as steps that a person reads: what happened, how long it took, what it cost. Knows no screen.
import type { RunEvent, Usage } from "../../api/facts";

export type StepKind = "model" | "tool" | "message" | "state" | "artifact" | "action" | "denial" | "end" | "failure" | "other";
export type Step = {
  key: number;
  kind: StepKind;
  /** A name of the model, tool, action or key of state. */
  name: string;
  text: string;
  at: number;
  milliseconds?: number;
  usage?: Usage;
  failed: boolean;
  /** Everything that was recorded, for those who want to look. */
  detail: unknown;
};

const str = (value: unknown): string => (typeof value === "string" ? value : "");

function base(event: RunEvent, kind: StepKind, name: string, more: Partial<Step> = {}): Step {
  return { key: event.sequence, kind, name, text: "", at: event.created_at, failed: false, detail: event.data, ...more };
}

function called(event: RunEvent, kind: "model" | "tool"): Step {
  const { data } = event;
  const outcome = str(data.outcome);
  const failed = data.error != null || !["", "answered", "done", "completed", "ok"].includes(outcome);
  return base(event, kind, str(data.name) || str(data.tool_name), {
    text: failed ? str(data.error) || outcome : "",
    milliseconds: typeof data.milliseconds === "number" ? data.milliseconds : undefined,
    usage: data.usage as Usage | undefined,
    failed,
  });
}

function textOf(message: unknown): string {
  const content = (message as { content?: unknown } | undefined)?.content;
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : "";
}

function step(event: RunEvent): Step | null {
  const { type, data } = event;
  if (type === "message.delta" || type === "tool.call.started") return null;
  if (type === "model.called") return called(event, "model");
  if (type === "tool.called") return called(event, "tool");
  if (type === "tool.call.completed") return called(event, "tool");
  if (type === "message.completed") return base(event, "message", "", { text: textOf(data.message) });
  if (type === "state.updated") return base(event, "state", `${str(data.scope)}.${str(data.key)}`);
  if (type === "artifact.created") return base(event, "artifact", str(data.name) || str(data.artifact_type));
  if (type.startsWith("action.") || type.startsWith("approval.")) {
    const failed = data.status === "refused" || data.status === "failed";
    return base(event, "action", str(data.action) || type, { text: str(data.message) || str(data.status), failed });
  }
  if (type.endsWith("denied")) return base(event, "denial", str(data.action) || type, { text: str(data.message), failed: true });
  if (type === "run.completed") return base(event, "end", str(data.finish_reason));
  if (type === "run.failed") return base(event, "failure", str(data.code), { text: str(data.error), failed: true });
  return base(event, "other", type);
}

/**
 * A tool that both the Host and the runner told of is one step: the Host's, which knows how long it took. Calls are
 * written down when they are over, which may be after the runner's last word: the end comes last all the same.
 */
export function timeline(events: RunEvent[]): Step[] {
  const counted = events.some((event) => event.type === "tool.called");
  const told = events.filter((event) => !(counted && event.type === "tool.call.completed"));
  const steps = told.map(step).filter((each) => each !== null);
  return [...steps.filter((each) => !isEnd(each)), ...steps.filter(isEnd)];
}

function isEnd(each: Step): boolean {
  return each.kind === "end" || each.kind === "failure";
}
