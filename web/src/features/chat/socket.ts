// One chat's socket: comes back by itself where it was, and sends again what was never accepted.
import { socketAddress } from "../../api/client";
import type { Frame } from "./log";

const LONGEST = 10_000;

export type Outgoing = { type: "message"; id: string; text?: string; contents?: unknown[] };

export class ChatSocket {
  private socket: WebSocket | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait = 300;
  private seq: number | undefined;
  private closed = false;
  private readonly waiting = new Map<string, Outgoing>();

  constructor(
    private readonly agentId: string,
    private readonly session: string,
    private readonly hear: (frame: Frame) => void,
    private readonly tell: (connected: boolean) => void,
  ) {
    this.open();
  }

  say(message: Outgoing): void {
    this.waiting.set(message.id, message);
    this.send(message);
  }

  cancel(): void {
    this.send({ type: "cancel" });
  }

  decide(approval_id: string, decision: "approve" | "deny"): void {
    this.send({ type: "approve", approval_id, decision });
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  private send(frame: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  private open(): void {
    const after: Record<string, string> = this.seq === undefined ? {} : { after: String(this.seq) };
    const socket = new WebSocket(
      socketAddress(`/api/v1/agents/${encodeURIComponent(this.agentId)}/chat/ws`, { session: this.session, ...after }),
    );
    this.socket = socket;
    socket.onmessage = (message) => this.took(JSON.parse(String(message.data)) as Frame);
    socket.onclose = () => {
      if (this.closed) return;
      this.tell(false);
      this.timer = setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(this.wait * 2, LONGEST);
    };
  }

  private took(frame: Frame): void {
    if (frame.seq) this.seq = Math.max(this.seq ?? 0, frame.seq);
    if (frame.type === "connected") {
      this.wait = 300;
      this.tell(true);
      for (const message of this.waiting.values()) this.send(message);
    }
    if (frame.type === "accepted") this.waiting.delete(String(frame.id));
    this.hear(frame);
  }
}
