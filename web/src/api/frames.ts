// The frames of the chat socket and of the live socket. The Host's OpenAPI document has no sockets, so these types are
// written by hand; tests/recorded/frames.ts holds frames of a real Host against them.
import type { Approval, ContentElement, Fields, RunStatus } from "./types";

/** A message of a runner or of the Host. */
export type ChatMessage = {
  role?: string;
  content?: string | ContentElement[] | null;
  reasoning?: string | null;
  metadata?: Fields;
};

type ConnectedFrame = { type: "connected"; session: string; agent_id: string; conversation_id: string };
/** The Host has stored a message of this client; `id` is the client's. */
type AcceptedFrame = { type: "accepted"; id: string | null; event_id: string };
/** A message that was sent in this session, by this client or another one. */
type SaidFrame = {
  type: "said";
  id: string | null;
  event_id: string;
  text: string | null;
  contents: ContentElement[];
};
type RunFrame = { type: "run"; run_id: string; status: RunStatus };
/** A fragment of a message; with `replace`, all of it so far. */
type DeltaFrame = { type: "delta"; run_id: string; content: string; replace?: boolean };
type ThinkingFrame = { type: "thinking"; run_id: string; content: string };
type MessageFrame = { type: "message"; run_id: string; message: ChatMessage };
type ToolFrame = {
  type: "tool";
  run_id: string;
  tool_call_id: string;
  tool_name: string;
  status: "started" | "completed";
};
type ApprovalFrame = {
  type: "approval";
  approval_id: string;
  keyword: string;
  status: Approval["status"];
  action: string;
  words: string;
  run_id: string;
  expires_at: number;
  decided_by: string | null;
  reason: string | null;
};
type BroadcastFrame = { type: "broadcast"; message: ChatMessage };
/** A refused request; with `in_history`, a notice of the Host that the transcript has too. */
type ErrorFrame = { type: "error"; code: string; message: string; run_id?: string; in_history?: boolean };
type PongFrame = { type: "pong" };

/** A frame from the Host over the chat socket. `seq` is the number to resume after. */
export type ChatFrame = { seq: number } & (
  | ConnectedFrame
  | AcceptedFrame
  | SaidFrame
  | RunFrame
  | DeltaFrame
  | ThinkingFrame
  | MessageFrame
  | ToolFrame
  | ApprovalFrame
  | BroadcastFrame
  | ErrorFrame
  | PongFrame
);
export type ChatFrameOf<Type extends ChatFrame["type"]> = Extract<ChatFrame, { type: Type }>;

/** A frame from a client over the chat socket. `id` is its idempotency key. */
export type MessageRequest = { type: "message"; id: string; text?: string; contents?: ContentElement[] };
export type ChatRequest =
  | MessageRequest
  | { type: "cancel" }
  | { type: "approve"; approval_id: string; decision: "approve" | "always" | "deny" };

/** A frame of a run's replay: as the chat socket had it, with its time in place of a number. */
export type ReplayFrame = { at: number; run_id: string } & (
  RunFrame | DeltaFrame | MessageFrame | ToolFrame | ErrorFrame
);

const REPLAYED: ReadonlySet<unknown> = new Set<ReplayFrame["type"]>(["run", "delta", "message", "tool", "error"]);

/** The document leaves the frames of a replay open; those of an unknown type are left out. */
export const isReplayFrame = (frame: Fields): frame is ReplayFrame =>
  REPLAYED.has(frame.type) && typeof frame.at === "number";

/** A change of one thing, with the columns that the Host publishes. */
type Change<Type extends string> = { type: Type; id: string; state: string; seq: number; [column: string]: unknown };

/** A frame from the Host over the live socket. */
export type LiveFrame =
  | { type: "connected"; seq: number }
  /** Frames were lost: what was read before may be stale. */
  | { type: "missed"; seq: number }
  /** The socket was refused. */
  | { type: "error"; code: string; message: string; seq: number }
  | (Change<"configuration"> & { what: string })
  | (Change<"delivery"> & { run_id?: string })
  | Change<"event">
  | Change<"run">
  | Change<"denial">
  | Change<"approval">
  | Change<"job">
  | Change<"plugin">
  | Change<"bot">
  | Change<"mcp_server">;
