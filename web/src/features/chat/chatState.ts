// The state of a chat, computed from its transcript and the frames of its socket, without network or rendering.
import type { ChatFrame, ChatFrameOf, ChatMessage } from "../../api/frames";
import type { TranscriptItem } from "../../api/types";
import { isFields } from "../../lib/fields";

export type ToolCall = { id: string; name: string; status: string };
export type Ask = Pick<
  ChatFrameOf<"approval">,
  "approval_id" | "status" | "action" | "words" | "decided_by" | "reason"
>;
export type FileRef = { artifact_id: string; name: string; mime_type: string | null };
/** A passage of a knowledge base that an answer cites by its number. */
export type Citation = {
  number: number;
  chunk_id: string;
  kb_id: string;
  file_id?: string;
  file_name: string;
  page?: number;
};
export type UserMessage = { kind: "userMessage"; id: string; text: string; files: FileRef[]; eventId?: string };
export type Answer = {
  kind: "answer";
  run_id: string;
  content: string;
  thinking: string;
  files: FileRef[];
  citations: Citation[];
  seq: number;
};
/** A notice of the Host that the transcript has too: why there is no answer. */
export type Failure = { kind: "failure"; run_id: string | null; content: string; seq: number };
/** A notice with a text of the Host, or with a key of the page's texts. */
export type Notice = { seq: number; text?: string; key?: string; tone: "bad" | "calm" };
/** One line of the conversation as it is rendered. */
export type Line = {
  key: string;
  role: "you" | "agent" | "notice";
  text: string;
  thinking: string;
  files: FileRef[];
  citations?: Citation[];
  runId: string | null;
  /** The Host has not accepted the message yet. */
  isPending: boolean;
};

export type Pending = UserMessage | Answer | Failure;

export type ChatState = {
  conversationId: string | null;
  items: TranscriptItem[];
  /** Messages and answers since the transcript was read, in the order in which they arrived. */
  pending: Pending[];
  tools: Record<string, ToolCall[]>;
  /** The reasoning of answers, which the transcript does not keep. */
  thoughts: Record<string, string>;
  asks: Ask[];
  notices: Notice[];
  /** The active run, and the text that it has written so far. */
  running: string | null;
  draft: string;
  /** The reasoning of the active run, from agents that show it. */
  reasoning: string;
};

export const EMPTY_CHAT: ChatState = {
  conversationId: null,
  items: [],
  pending: [],
  tools: {},
  thoughts: {},
  asks: [],
  notices: [],
  running: null,
  draft: "",
  reasoning: "",
};

export function applyHistory(state: ChatState, items: ChatState["items"]): ChatState {
  const events = new Set(items.map((item) => item.event_id));
  const stored = new Set(items.map((item) => `${item.run_id} ${item.content}`));
  const isStored = (each: Pending) =>
    each.kind === "userMessage"
      ? !!each.eventId && events.has(each.eventId)
      : stored.has(`${each.run_id} ${each.content}`);
  return { ...state, items, pending: state.pending.filter((each) => !isStored(each)) };
}

/** Adds a message of the user; decisions and errors before it are taken as read and removed. */
export function applyUserMessage(state: ChatState, message: Omit<UserMessage, "kind">): ChatState {
  return {
    ...state,
    notices: [],
    asks: state.asks.filter((ask) => ask.status === "pending"),
    pending: [...state.pending, { kind: "userMessage", ...message }],
  };
}

export function applyFrame(state: ChatState, frame: ChatFrame): ChatState {
  switch (frame.type) {
    case "connected":
      return applyConnected(state, frame);
    case "accepted":
      return {
        ...state,
        pending: state.pending.map((each) =>
          each.kind === "userMessage" && each.id === frame.id ? { ...each, eventId: frame.event_id } : each,
        ),
      };
    case "said":
      return applySaid(state, frame);
    case "run":
      return applyRun(state, frame);
    case "delta":
      return { ...state, running: frame.run_id, draft: frame.replace ? frame.content : state.draft + frame.content };
    case "thinking":
      return { ...state, running: frame.run_id, reasoning: state.reasoning + frame.content };
    case "message":
      return applyAnswer(state, answerOf(frame));
    case "tool":
      return { ...state, tools: applyTool(state.tools, frame) };
    case "approval":
      return { ...state, asks: [...state.asks.filter((ask) => ask.approval_id !== frame.approval_id), frame] };
    case "broadcast":
      return applyNotice(state, { seq: frame.seq, text: textOf(frame.message), tone: "calm" });
    case "error":
      if (frame.in_history)
        return applyFailure(state, {
          kind: "failure",
          run_id: frame.run_id ?? null,
          content: frame.message,
          seq: frame.seq,
        });
      return applyNotice(state, { seq: frame.seq, text: frame.message, tone: "bad" });
    default:
      return state;
  }
}

/** Starts or resumes the session; the Host repeats the frames of a run that is still active. */
function applyConnected(state: ChatState, frame: ChatFrameOf<"connected">): ChatState {
  const id = frame.conversation_id || null;
  return state.conversationId && id !== state.conversationId
    ? { ...EMPTY_CHAT, conversationId: id, pending: state.pending.filter((each) => each.kind === "userMessage") }
    : { ...state, conversationId: id };
}

/** Adds a message that was sent in this session, here or in another tab. */
function applySaid(state: ChatState, frame: ChatFrameOf<"said">): ChatState {
  const eventId = frame.event_id;
  const isKnown =
    state.pending.some((each) => each.kind === "userMessage" && (each.id === frame.id || each.eventId === eventId)) ||
    state.items.some((item) => item.event_id === eventId);
  if (isKnown)
    return {
      ...state,
      pending: state.pending.map((each) =>
        each.kind === "userMessage" && each.id === frame.id ? { ...each, eventId } : each,
      ),
    };
  return {
    ...state,
    pending: [
      ...state.pending,
      { kind: "userMessage", id: eventId, eventId, text: frame.text ?? "", files: filesOf(frame.contents) },
    ],
  };
}

function applyAnswer(state: ChatState, answer: Answer): ChatState {
  const isKnown = state.items.some((item) => item.run_id === answer.run_id && item.content === answer.content);
  const thoughts = answer.thinking
    ? { ...state.thoughts, [thoughtKey(answer.run_id, answer.content)]: answer.thinking }
    : state.thoughts;
  return {
    ...state,
    draft: "",
    reasoning: "",
    thoughts,
    pending: isKnown ? state.pending : [...state.pending, answer],
  };
}

/** Adds a failure once, in its place among the messages, whether the transcript has it already or not. */
function applyFailure(state: ChatState, failure: Failure): ChatState {
  const isKnown =
    failure.run_id !== null &&
    state.items.some((item) => item.run_id === failure.run_id && item.content === failure.content);
  const interrupted: Partial<ChatState> =
    failure.run_id !== null && failure.run_id === state.running ? { draft: "", reasoning: "" } : {};
  return { ...state, ...interrupted, pending: isKnown ? state.pending : [...state.pending, failure] };
}

function applyRun(state: ChatState, frame: ChatFrameOf<"run">): ChatState {
  if (frame.status === "running") return { ...state, running: frame.run_id, draft: "", reasoning: "" };
  const finished: ChatState =
    state.running === frame.run_id ? { ...state, running: null, draft: "", reasoning: "" } : state;
  return frame.status === "cancelled"
    ? applyNotice(finished, { seq: frame.seq, key: "chat.stopped", tone: "calm" })
    : finished;
}

function applyNotice(state: ChatState, notice: Notice): ChatState {
  return { ...state, notices: [...state.notices, notice] };
}

function applyTool(tools: ChatState["tools"], frame: ChatFrameOf<"tool">): ChatState["tools"] {
  const run = frame.run_id;
  const call = { id: frame.tool_call_id, name: frame.tool_name, status: frame.status };
  const calls = tools[run] ?? [];
  const isKnown = calls.some((each) => each.id === call.id);
  return { ...tools, [run]: isKnown ? calls.map((each) => (each.id === call.id ? call : each)) : [...calls, call] };
}

function answerOf({ run_id, message, seq }: ChatFrameOf<"message">): Answer {
  return {
    kind: "answer",
    run_id,
    content: textOf(message),
    thinking: message.reasoning ?? "",
    files: filesOf(message.content),
    citations: citationsOf(message.metadata),
    seq,
  };
}

const thoughtKey = (run_id: string, content: string) => `${run_id} ${content}`;

export function lines(
  items: ChatState["items"],
  pending: ChatState["pending"],
  thoughts: ChatState["thoughts"],
): Line[] {
  return [...items.map((item) => lineOf(item, thoughts)), ...pending.map(pendingLine)];
}

function lineOf(item: TranscriptItem, thoughts: ChatState["thoughts"]): Line {
  const role = item.item_type === "notice" ? "notice" : item.role === "user" ? "you" : "agent";
  const thinking = role === "agent" ? (thoughts[thoughtKey(item.run_id ?? "", item.content)] ?? "") : "";
  return {
    key: item.transcript_id,
    role,
    text: item.content,
    thinking,
    files: filesOf([...(item.content_json ?? []), ...(item.artifact_refs ?? [])]),
    citations: citationsOf(item.metadata),
    runId: item.run_id,
    isPending: false,
  };
}

function pendingLine(each: Pending): Line {
  if (each.kind === "failure")
    return {
      key: `${each.run_id} ${each.seq}`,
      role: "notice",
      text: each.content,
      thinking: "",
      files: [],
      runId: each.run_id,
      isPending: false,
    };
  if (each.kind === "userMessage")
    return {
      key: each.id,
      role: "you",
      text: each.text,
      thinking: "",
      files: each.files,
      runId: null,
      isPending: !each.eventId,
    };
  return {
    key: `${each.run_id} ${each.seq}`,
    role: "agent",
    text: each.content,
    thinking: each.thinking,
    files: each.files,
    citations: each.citations,
    runId: each.run_id,
    isPending: false,
  };
}

/** Returns the passages that a message names as its sources; a runner may write anything there. */
function citationsOf(metadata: unknown): Citation[] {
  const cited = isFields(metadata) ? metadata.citations : undefined;
  return Array.isArray(cited)
    ? cited.filter((each) => isFields(each) && typeof each.number === "number" && typeof each.file_name === "string")
    : [];
}

/** Returns the text of a message, whose content is a text or a list of elements. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .map((part) => ("text" in part ? part.text : ""))
    .filter(Boolean)
    .join("\n");
}

const str = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns the stored files among the elements of a message, each once. External files are not shown. */
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
