// What a chat shows, worked out from its history and the frames of its socket. Knows neither the network nor the screen.
import type { TranscriptItem } from "../../api/facts";

export type Frame = { type: string; seq: number } & Record<string, unknown>;
export type ToolCall = { id: string; name: string; status: string };
export type Ask = { approval_id: string; status: string; action: string; words: string; decided_by: string | null; reason: string | null };
export type Own = { id: string; text: string; attachments: string[]; eventId?: string };
export type Fresh = { run_id: string; content: string; seq: number };
/** In the Host's words, or as a key of the page's own. */
export type Notice = { seq: number; text?: string; key?: string; tone: "bad" | "calm" };

export type ChatLog = {
  items: (TranscriptItem & { event_id?: string | null })[];
  /** What was said here and is not yet in the history. */
  own: Own[];
  /** Answers that came and are not yet in the history. */
  fresh: Fresh[];
  tools: Record<string, ToolCall[]>;
  asks: Ask[];
  notices: Notice[];
  /** The run that is under way, and what it has written so far. */
  running: string | null;
  writing: string;
};

export const EMPTY: ChatLog = { items: [], own: [], fresh: [], tools: {}, asks: [], notices: [], running: null, writing: "" };

export function withHistory(log: ChatLog, items: ChatLog["items"]): ChatLog {
  const events = new Set(items.map((item) => item.event_id));
  const said = new Set(items.map((item) => `${item.run_id} ${item.content}`));
  return {
    ...log,
    items,
    own: log.own.filter((own) => !own.eventId || !events.has(own.eventId)),
    fresh: log.fresh.filter((fresh) => !said.has(`${fresh.run_id} ${fresh.content}`)),
  };
}

export function withFrame(log: ChatLog, frame: Frame): ChatLog {
  switch (frame.type) {
    case "accepted":
      return { ...log, own: log.own.map((own) => (own.id === frame.id ? { ...own, eventId: String(frame.event_id) } : own)) };
    case "run":
      return withRun(log, frame);
    case "delta":
      return { ...log, running: String(frame.run_id), writing: frame.replace ? String(frame.content) : log.writing + String(frame.content) };
    case "message":
      return { ...log, writing: "", fresh: [...log.fresh, freshOf(frame)] };
    case "tool":
      return { ...log, tools: withTool(log.tools, frame) };
    case "approval":
      return { ...log, asks: [...log.asks.filter((ask) => ask.approval_id !== frame.approval_id), frame as unknown as Ask] };
    case "broadcast":
      return withNotice(log, { seq: frame.seq, text: textOf(frame.message), tone: "calm" });
    case "error":
      return withNotice(log, { seq: frame.seq, text: String(frame.message), tone: "bad" });
    default:
      return log;
  }
}

function withRun(log: ChatLog, frame: Frame): ChatLog {
  if (frame.status === "running") return { ...log, running: String(frame.run_id), writing: "" };
  const over = { ...log, running: log.running === frame.run_id ? null : log.running, writing: "" };
  return frame.status === "cancelled" ? withNotice(over, { seq: frame.seq, key: "chat.stopped", tone: "calm" }) : over;
}

function withNotice(log: ChatLog, notice: Notice): ChatLog {
  return { ...log, notices: [...log.notices, notice] };
}

function withTool(tools: ChatLog["tools"], frame: Frame): ChatLog["tools"] {
  const run = String(frame.run_id);
  const call = { id: String(frame.tool_call_id), name: String(frame.tool_name), status: String(frame.status) };
  const calls = tools[run] ?? [];
  const known = calls.some((each) => each.id === call.id);
  return { ...tools, [run]: known ? calls.map((each) => (each.id === call.id ? call : each)) : [...calls, call] };
}

function freshOf(frame: Frame): Fresh {
  return { run_id: String(frame.run_id), content: textOf(frame.message), seq: frame.seq };
}

/** The text of a message, whose content is a text or a list of elements. */
export function textOf(message: unknown): string {
  const content = (message as { content?: unknown } | null)?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string; name?: string; type?: string }) => part.text ?? `[${part.name ?? part.type}]`).join("\n");
}
