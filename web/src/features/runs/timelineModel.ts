// The records of a run as steps of a timeline: what happened, how long it took, what it cost. Without rendering.
import type { Delivery, Denial, EventRecord, RunDetail, RunEvent, Usage } from "../../api/types";

export type StepKind =
  | "event"
  | "model"
  | "tool"
  | "message"
  | "state"
  | "artifact"
  | "action"
  | "approval"
  | "steering"
  | "plan"
  | "denial"
  | "delivery"
  | "end"
  | "failure"
  | "other";
export type PlanEntry = { content: string; status: "pending" | "in_progress" | "completed" };
export type FileDiff = { path: string; added: number; removed: number; text: string };
export type Step = {
  key: string;
  kind: StepKind;
  /** The name of the model, tool, action or state key. */
  name: string;
  text: string;
  /** The start of the step; it ended `milliseconds` later if that is set. */
  at: number;
  milliseconds?: number;
  /** The id of a model call whose prompt and answer were recorded. */
  callId?: string;
  usage?: Usage;
  failed: boolean;
  /** The current state of a delivery, an action or an approval. */
  state?: string;
  /** The identity that decided. */
  by?: string;
  thinking?: string;
  /** The arguments of a tool and its result. */
  given?: unknown;
  gave?: unknown;
  /** The plan of a coding agent, as it last said it. */
  plan?: PlanEntry[];
  /** The files that a tool of a coding agent changed. */
  diffs?: FileDiff[];
  /** Files that can be opened. */
  files?: { artifact_id: string; name: string }[];
  /** The whole record. */
  detail: unknown;
};
type Delivered = Pick<
  Delivery,
  "outbox_id" | "kind" | "state" | "surface" | "bot_id" | "text" | "reason" | "updated_at"
>;
type Denied = Pick<Denial, "action" | "resource" | "code" | "created_at">;
type Around = Partial<Pick<RunDetail, "created_at" | "started_at" | "finished_at">> & {
  event?: Pick<EventRecord, "event_id" | "event_type" | "input_summary" | "created_at"> | null;
  deliveries?: Delivered[];
  denials?: Denied[];
};

const BRIEF = 200;
const PLAN = "harness.plan";
const FINE = ["", "answered", "done", "completed", "ok", "allowed"];
const str = (value: unknown): string => (typeof value === "string" ? value : "");

function base(event: RunEvent, kind: StepKind, name: string, extra: Partial<Step> = {}): Step {
  return {
    key: `${event.sequence}`,
    kind,
    name,
    text: "",
    at: event.created_at,
    failed: false,
    detail: event.data,
    ...extra,
  };
}

function callStep(event: RunEvent, kind: "model" | "tool"): Step {
  const { data } = event;
  const outcome = str(data.outcome);
  const failed = data.error != null || !FINE.includes(outcome);
  const milliseconds = typeof data.milliseconds === "number" ? data.milliseconds : undefined;
  return base(event, kind, str(data.name) || str(data.tool_name), {
    text: failed ? errorText(data.error) || outcome : "",
    // the row is written after the call: old ones have no start time
    at: typeof data.started_at === "number" ? data.started_at : event.created_at - (milliseconds ?? 0),
    milliseconds,
    callId: str(data.call_id) || undefined,
    usage: data.usage as Usage | undefined,
    failed,
  });
}

function errorText(error: unknown): string {
  return str(error) || str((error as { message?: unknown } | null)?.message);
}

function textOf(message: unknown): string {
  const content = (message as { content?: unknown } | undefined)?.content;
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : "";
}

function messageStep(event: RunEvent): Step {
  const message = event.data.message as { reasoning?: unknown } | undefined;
  return base(event, "message", "", { text: textOf(message), thinking: str(message?.reasoning) || undefined });
}

function artifactStep(event: RunEvent): Step {
  const { data } = event;
  const name = str(data.name) || str(data.artifact_type);
  const references = event.artifact_refs.map((ref) => ({
    artifact_id: str(ref.artifact_id),
    name: str(ref.name) || name,
  }));
  const artifactId = str(data.artifact_id);
  return base(event, "artifact", name, {
    files: references.length || !artifactId ? references : [{ artifact_id: artifactId, name: name || artifactId }],
  });
}

function approvalStep(event: RunEvent): Step {
  const { type, data } = event;
  const state = str(data.status);
  const kind = type.startsWith("approval.") ? "approval" : "action";
  const failed = ["refused", "failed", "denied"].includes(state);
  // for an approval that expired, the state says everything
  const text = state === "expired" ? "" : str(data.message) || str(data.reason);
  return base(event, kind, str(data.action) || (kind === "action" ? type : ""), {
    text,
    state: state || undefined,
    by: str(data.decided_by) || undefined,
    failed,
  });
}

/** Returns the changed files in the result of a coding agent's tool; nothing for other results. */
function diffsOf(result: unknown): FileDiff[] | undefined {
  const diffs = (result as { diffs?: unknown } | null)?.diffs;
  if (!Array.isArray(diffs)) return undefined;
  const valid = (diffs as Partial<FileDiff>[]).filter((each) => typeof each.path === "string");
  return valid.map((each) => ({
    path: each.path!,
    added: each.added ?? 0,
    removed: each.removed ?? 0,
    text: str(each.text),
  }));
}

/** Joins the plans of a coding agent into one step: each plan replaces the one before it. */
function planSteps(events: RunEvent[]): Step[] {
  const [first] = events;
  const last = events.at(-1);
  if (!first || !last) return [];
  const given = Array.isArray(last.data.entries)
    ? (last.data.entries as { content?: unknown; status?: unknown }[])
    : [];
  const plan = given.map((each) => ({ content: str(each.content), status: planStatus(each.status) }));
  return [base(first, "plan", "", { plan, detail: last.data })];
}

const planStatus = (status: unknown): PlanEntry["status"] =>
  status === "completed" || status === "in_progress" ? status : "pending";

/** Returns a value in one line, shortened; the record has all of it. */
function brief(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > BRIEF ? `${text.slice(0, BRIEF)}…` : text;
}

/** Returns the steps of an event. A run may end with a message: that is two steps. */
function steps(event: RunEvent): Step[] {
  const last = event.type === "run.completed" && event.data.message != null;
  return last ? [{ ...messageStep(event), key: `${event.sequence} said` }, step(event)] : [step(event)];
}

function step(event: RunEvent): Step {
  const { type, data } = event;
  if (type === "model.called") return callStep(event, "model");
  if (type === "message.completed") return messageStep(event);
  if (type === "state.updated")
    return base(event, "state", `${str(data.scope)}.${str(data.key)}`, { text: brief(data.value) });
  if (type === "artifact.created") return artifactStep(event);
  if (type.startsWith("action.") || type.startsWith("approval.")) return approvalStep(event);
  if (type.startsWith("steering."))
    return base(event, "steering", "", { state: type.slice("steering.".length), text: str(data.text) });
  if (type.endsWith("denied"))
    return base(event, "denial", str(data.action) || type, { text: str(data.message), failed: true });
  if (type === "run.completed") return base(event, "end", str(data.finish_reason));
  if (type === "run.failed")
    return base(event, "failure", str(data.code), { text: errorText(data.error), failed: true });
  return base(event, "other", type);
}

/**
 * Joins the records of one tool call into a step: its start and end from the runner, and the duration that the Host
 * measured.
 */
function toolSteps(events: RunEvent[]): Step[] {
  const started = new Map<string, RunEvent>();
  const steps: Step[] = [];
  const timedCalls: Step[] = [];
  for (const event of events) {
    const id = str(event.data.tool_call_id) || `${event.sequence}`;
    if (event.type === "tool.call.started") started.set(id, event);
    if (event.type === "tool.called") timedCalls.push(callStep(event, "tool"));
    if (event.type === "tool.call.completed") {
      const start = started.get(id);
      started.delete(id);
      const startedAt = start?.created_at ?? event.created_at;
      steps.push({
        ...callStep(event, "tool"),
        at: startedAt,
        milliseconds: start && event.created_at - startedAt,
        given: start?.data.parameters,
        gave: event.data.result,
        diffs: diffsOf(event.data.result),
      });
    }
  }
  const open = [...started.values()].map((event) =>
    base(event, "tool", str(event.data.tool_name), { state: "running", given: event.data.parameters }),
  );
  return [...withTimes(steps, timedCalls), ...open];
}

function withTimes(reported: Step[], timedCalls: Step[]): Step[] {
  const remaining = [...timedCalls];
  const steps = reported.map((each) => {
    const index = remaining.findIndex((other) => other.name === each.name);
    const [match] = index < 0 ? [] : remaining.splice(index, 1);
    if (!match) return each;
    return {
      ...each,
      at: match.at,
      milliseconds: match.milliseconds,
      failed: each.failed || match.failed,
      text: each.text || match.text,
    };
  });
  return [...steps, ...remaining];
}

function delivered(delivery: Delivered): Step {
  const failed = delivery.state === "failed" || delivery.state === "expired";
  // the text of a reply is shown as a message already
  const text = delivery.reason || (delivery.kind === "message" ? "" : (delivery.text ?? ""));
  return {
    key: delivery.outbox_id,
    kind: "delivery",
    name: delivery.bot_id || delivery.surface,
    text,
    at: delivery.updated_at,
    failed,
    state: delivery.state,
    detail: delivery,
  };
}

function denied(denial: Denied, index: number): Step {
  const name = [denial.action, denial.resource].filter(Boolean).join(" ");
  return {
    key: `denial ${index}`,
    kind: "denial",
    name,
    text: denial.code,
    at: denial.created_at,
    failed: true,
    detail: denial,
  };
}

function begin({ event }: Around): Step[] {
  if (!event) return [];
  return [
    {
      key: event.event_id,
      kind: "event",
      name: event.event_type,
      text: event.input_summary ?? "",
      at: event.created_at,
      failed: false,
      state: undefined,
      detail: event,
    },
  ];
}

/** Returns the start of the run, from which all offsets count. Its event may be earlier, if it waited. */
export function startOf(steps: Step[], around: Around): number {
  const start = around.started_at ?? around.created_at;
  return start ?? Math.min(...steps.filter((step) => step.kind !== "event").map((step) => step.at));
}

/**
 * Returns the steps in the order of their start, from the event to the end. At the same millisecond a call precedes its
 * results. The end follows everything that the run did; only late decisions and deliveries follow it.
 */
export function timeline(events: RunEvent[], around: Around = {}): Step[] {
  const relevant = events.filter((event) => event.type !== "message.delta");
  const tools = relevant.filter((event) => event.type.startsWith("tool."));
  const plans = relevant.filter((event) => event.type === PLAN);
  const otherEvents = relevant.filter((event) => !event.type.startsWith("tool.") && event.type !== PLAN);
  const allSteps = [
    ...otherEvents.flatMap(steps),
    ...toolSteps(tools),
    ...planSteps(plans),
    ...(around.denials ?? []).map(denied),
    ...(around.deliveries ?? []).map(delivered),
  ].map((each) => (isEnd(each) && around.finished_at ? { ...each, at: around.finished_at } : each));
  const end = allSteps.find(isEnd)?.at ?? Infinity;
  const phase = (each: Step): number => (isEnd(each) ? 1 : isAfter(each, end) ? 2 : 0);
  const sorted = allSteps
    .map((each, index) => ({ each, index }))
    .sort(
      (a, b) =>
        phase(a.each) - phase(b.each) || a.each.at - b.each.at || TIES(a.each) - TIES(b.each) || a.index - b.index,
    );
  return [...begin(around), ...joinStates(sorted.map(({ each }) => each))];
}

/** Joins values that were stored one after the other, as agents of services and coding agents do, into one step. */
function joinStates(steps: Step[]): Step[] {
  const joined: Step[] = [];
  for (const step of steps) {
    const before = joined.at(-1);
    if (step.kind !== "state" || before?.kind !== "state") {
      joined.push(step);
      continue;
    }
    const first = before.name ? `${before.name}: ${before.text}` : before.text;
    const details = before.name ? [before.detail] : (before.detail as unknown[]);
    const text = `${first}\n${step.name}: ${step.text}`;
    joined[joined.length - 1] = { ...before, name: "", text, detail: [...details, step.detail] };
  }
  return joined;
}

const isEnd = (each: Step): boolean => each.kind === "end" || each.kind === "failure";
const TIES = ({ kind }: Step): number => (kind === "model" || kind === "tool" ? 0 : kind === "delivery" ? 2 : 1);

/** Whether a step may follow the end of its run: a late decision, or a delivery, which may be still pending. */
function isAfter(each: Step, end: number): boolean {
  if (each.kind === "delivery") return each.at >= end || each.state === "pending" || each.state === "sending";
  return each.kind === "approval" && each.at > end;
}

/** Returns the position of a step within the whole, from 0 to 1, or null if it has no duration. */
export function barOf(step: Step, from: number, to: number): { left: number; width: number } | null {
  if (step.milliseconds === undefined || to <= from) return null;
  const left = Math.min(1, Math.max(0, (step.at - from) / (to - from)));
  return { left, width: Math.min(1 - left, Math.max(0.01, step.milliseconds / (to - from))) };
}
