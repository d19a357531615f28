// What a chat shows, worked out from its history and the frames of its socket. Knows neither the network nor the screen.
import type { ChatFrame, ChatFrameOf, ChatMessage } from "../../api/frames";
import type { TranscriptItem } from "../../api/types";
import { isFields } from "../../lib/fields";

export type ToolCall = { id: string; name: string; status: string };
export type Ask = Pick<
  ChatFrameOf<"approval">,
  "approval_id" | "status" | "action" | "words" | "decided_by" | "reason"
>;
export type FileRef = { artifact_id: string; name: string; mime_type: string | null };
export type Own = { kind: "own"; id: string; text: string; files: FileRef[]; eventId?: string };
export type Answer = {
  kind: "answer";
  run_id: string;
  content: string;
  thinking: string;
  files: FileRef[];
  seq: number;
};
/** A notice of the Host that the history holds too: why there is no answer. */
export type Failure = { kind: "failure"; run_id: string | null; content: string; seq: number };
/** In the Host's words, or as a key of the page's own. */
export type Notice = { seq: number; text?: string; key?: string; tone: "bad" | "calm" };
/** What is read on the screen, one under the other. */
export type Line = {
  key: string;
  role: "you" | "agent" | "notice";
  text: string;
  thinking: string;
  files: FileRef[];
  runId: string | null;
  /** Said here and not yet with the Host. */
  faint: boolean;
};

export type Later = Own | Answer | Failure;

export type ChatLog = {
  conversationId: string | null;
  items: TranscriptItem[];
  /** What was said and answered since the history was read, in the order in which it came. */
  later: Later[];
  tools: Record<string, ToolCall[]>;
  /** What answers were thought out with: the history does not keep it. */
  thoughts: Record<string, string>;
  asks: Ask[];
  notices: Notice[];
  /** The run that is under way, and what it has written so far. */
  running: string | null;
  writing: string;
  /** What it thinks meanwhile, from agents that show it. */
  pondering: string;
};

export const EMPTY: ChatLog = {
  conversationId: null,
  items: [],
  later: [],
  tools: {},
  thoughts: {},
  asks: [],
  notices: [],
  running: null,
  writing: "",
  pondering: "",
};

export function withHistory(log: ChatLog, items: ChatLog["items"]): ChatLog {
  const events = new Set(items.map((item) => item.event_id));
  const said = new Set(items.map((item) => `${item.run_id} ${item.content}`));
  const known = (each: Later) =>
    each.kind === "own" ? !!each.eventId && events.has(each.eventId) : said.has(`${each.run_id} ${each.content}`);
  return { ...log, items, later: log.later.filter((each) => !known(each)) };
}

/** Whoever goes on talking has seen what was decided and what went wrong. */
export function withOwn(log: ChatLog, own: Omit<Own, "kind">): ChatLog {
  return {
    ...log,
    notices: [],
    asks: log.asks.filter((ask) => ask.status === "pending"),
    later: [...log.later, { kind: "own", ...own }],
  };
}

export function withFrame(log: ChatLog, frame: ChatFrame): ChatLog {
  switch (frame.type) {
    case "connected":
      return begun(log, frame);
    case "accepted":
      return {
        ...log,
        later: log.later.map((each) =>
          each.kind === "own" && each.id === frame.id ? { ...each, eventId: frame.event_id } : each,
        ),
      };
    case "said":
      return withSaid(log, frame);
    case "run":
      return withRun(log, frame);
    case "delta":
      return { ...log, running: frame.run_id, writing: frame.replace ? frame.content : log.writing + frame.content };
    case "thinking":
      return { ...log, running: frame.run_id, pondering: log.pondering + frame.content };
    case "message":
      return withAnswer(log, answerOf(frame));
    case "tool":
      return { ...log, tools: withTool(log.tools, frame) };
    case "approval":
      return { ...log, asks: [...log.asks.filter((ask) => ask.approval_id !== frame.approval_id), frame] };
    case "broadcast":
      return withNotice(log, { seq: frame.seq, text: textOf(frame.message), tone: "calm" });
    case "error":
      if (frame.in_history)
        return withFailure(log, {
          kind: "failure",
          run_id: frame.run_id ?? null,
          content: frame.message,
          seq: frame.seq,
        });
      return withNotice(log, { seq: frame.seq, text: frame.message, tone: "bad" });
    default:
      return log;
  }
}

/** Also after a cut: what was going on then is told again, if it still does. */
function begun(log: ChatLog, frame: ChatFrameOf<"connected">): ChatLog {
  const id = frame.conversation_id || null;
  return log.conversationId && id !== log.conversationId
    ? { ...EMPTY, conversationId: id, later: log.later.filter((each) => each.kind === "own") }
    : { ...log, conversationId: id };
}

/** What was said in this chat, here or in another tab. */
function withSaid(log: ChatLog, frame: ChatFrameOf<"said">): ChatLog {
  const eventId = frame.event_id;
  const known =
    log.later.some((each) => each.kind === "own" && (each.id === frame.id || each.eventId === eventId)) ||
    log.items.some((item) => item.event_id === eventId);
  if (known)
    return {
      ...log,
      later: log.later.map((each) => (each.kind === "own" && each.id === frame.id ? { ...each, eventId } : each)),
    };
  return {
    ...log,
    later: [
      ...log.later,
      { kind: "own", id: eventId, eventId, text: frame.text ?? "", files: filesOf(frame.contents) },
    ],
  };
}

function withAnswer(log: ChatLog, answer: Answer): ChatLog {
  const known = log.items.some((item) => item.run_id === answer.run_id && item.content === answer.content);
  const thoughts = answer.thinking
    ? { ...log.thoughts, [thoughtKey(answer.run_id, answer.content)]: answer.thinking }
    : log.thoughts;
  return { ...log, writing: "", pondering: "", thoughts, later: known ? log.later : [...log.later, answer] };
}

/** Shown once, in its place among the messages, whether the history has it already or not. */
function withFailure(log: ChatLog, failure: Failure): ChatLog {
  const known =
    failure.run_id !== null &&
    log.items.some((item) => item.run_id === failure.run_id && item.content === failure.content);
  const cut = failure.run_id !== null && failure.run_id === log.running ? { writing: "", pondering: "" } : {};
  return { ...log, ...cut, later: known ? log.later : [...log.later, failure] };
}

function withRun(log: ChatLog, frame: ChatFrameOf<"run">): ChatLog {
  if (frame.status === "running") return { ...log, running: frame.run_id, writing: "", pondering: "" };
  const over = log.running === frame.run_id ? { ...log, running: null, writing: "", pondering: "" } : log;
  return frame.status === "cancelled" ? withNotice(over, { seq: frame.seq, key: "chat.stopped", tone: "calm" }) : over;
}

function withNotice(log: ChatLog, notice: Notice): ChatLog {
  return { ...log, notices: [...log.notices, notice] };
}

function withTool(tools: ChatLog["tools"], frame: ChatFrameOf<"tool">): ChatLog["tools"] {
  const run = frame.run_id;
  const call = { id: frame.tool_call_id, name: frame.tool_name, status: frame.status };
  const calls = tools[run] ?? [];
  const known = calls.some((each) => each.id === call.id);
  return { ...tools, [run]: known ? calls.map((each) => (each.id === call.id ? call : each)) : [...calls, call] };
}

function answerOf({ run_id, message, seq }: ChatFrameOf<"message">): Answer {
  return {
    kind: "answer",
    run_id,
    content: textOf(message),
    thinking: message.reasoning ?? "",
    files: filesOf(message.content),
    seq,
  };
}

const thoughtKey = (run_id: string, content: string) => `${run_id} ${content}`;

export function lines(items: ChatLog["items"], later: ChatLog["later"], thoughts: ChatLog["thoughts"]): Line[] {
  return [...items.map((item) => lineOf(item, thoughts)), ...later.map(laterLine)];
}

function lineOf(item: TranscriptItem, thoughts: ChatLog["thoughts"]): Line {
  const role = item.item_type === "notice" ? "notice" : item.role === "user" ? "you" : "agent";
  const thinking = role === "agent" ? (thoughts[thoughtKey(item.run_id ?? "", item.content)] ?? "") : "";
  return {
    key: item.transcript_id,
    role,
    text: item.content,
    thinking,
    files: filesOf([...(item.content_json ?? []), ...(item.artifact_refs ?? [])]),
    runId: item.run_id,
    faint: false,
  };
}

function laterLine(each: Later): Line {
  if (each.kind === "failure")
    return {
      key: `${each.run_id} ${each.seq}`,
      role: "notice",
      text: each.content,
      thinking: "",
      files: [],
      runId: each.run_id,
      faint: false,
    };
  if (each.kind === "own")
    return {
      key: each.id,
      role: "you",
      text: each.text,
      thinking: "",
      files: each.files,
      runId: null,
      faint: !each.eventId,
    };
  return {
    key: `${each.run_id} ${each.seq}`,
    role: "agent",
    text: each.content,
    thinking: each.thinking,
    files: each.files,
    runId: each.run_id,
    faint: false,
  };
}

/** The text of a message, whose content is a text or a list of elements. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .map((part) => ("text" in part ? part.text : ""))
    .filter(Boolean)
    .join("\n");
}

const str = (value: unknown): string => (typeof value === "string" ? value : "");

/** The files among the elements of a message, each once. Those that lie elsewhere are not ours to show. */
export function filesOf(content: unknown): FileRef[] {
  if (!Array.isArray(content)) return [];
  const files = content
    .filter(isFields)
    .filter((part) => str(part.artifact_id))
    .map((part) => ({
      artifact_id: str(part.artifact_id),
      name: str(part.name ?? part.type ?? part.artifact_type),
      mime_type: str(part.mime_type) || null,
    }));
  return [...new Map(files.map((file) => [file.artifact_id, file])).values()];
}
