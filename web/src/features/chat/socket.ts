// The chat socket: reconnects and resumes by itself, and sends messages again until they are accepted.
import { socketAddress } from "../../api/client";
import type { ChatFrame, ChatRequest, MessageRequest } from "../../api/frames";

const SHORTEST = 300;
const LONGEST = 5_000;
const LOGGED_OUT = 4401;

export type Listener = {
  onFrame: (frame: ChatFrame) => void;
  onStatus: (connected: boolean) => void;
  /** The session has expired: messages are kept and sent after the next login. */
  onLoggedOut: () => void;
};

export class ChatSocket {
  private socket: WebSocket | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait = SHORTEST;
  private seq: number | undefined;
  private closed = false;
  private loggedOut = false;
  private readonly unaccepted = new Map<string, MessageRequest>();

  constructor(
    private readonly agentId: string,
    private readonly session: string,
    private readonly listener: Listener,
  ) {
    this.open();
  }

  send(message: MessageRequest): void {
    this.unaccepted.set(message.id, message);
    this.write(message);
  }

  cancel(): void {
    this.write({ type: "cancel" });
  }

  decide(approval_id: string, decision: "approve" | "always" | "deny"): void {
    this.write({ type: "approve", approval_id, decision });
  }

  /** Reconnects at once, after the user has logged in again. */
  reconnectNow(): void {
    if (this.closed || this.socket?.readyState === WebSocket.OPEN) return;
    clearTimeout(this.timer);
    this.wait = SHORTEST;
    this.open();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  private write(frame: ChatRequest): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  private open(): void {
    const after: Record<string, string> = this.seq === undefined ? {} : { after: String(this.seq) };
    const path = `/api/v1/agents/${encodeURIComponent(this.agentId)}/chat/ws`;
    const socket = new WebSocket(
      socketAddress(path, { session: this.session, said: "true", locale: document.documentElement.lang, ...after }),
    );
    this.socket = socket;
    socket.onmessage = (message) => {
      if (socket === this.socket) this.onMessage(JSON.parse(message.data));
    };
    socket.onclose = (event) => {
      if (socket === this.socket) this.onClose(event.code);
    };
  }

  private onClose(code: number): void {
    if (this.closed) return;
    this.listener.onStatus(false);
    if (code === LOGGED_OUT && !this.loggedOut) {
      this.loggedOut = true;
      this.listener.onLoggedOut();
    }
    this.timer = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST);
  }

  private onMessage(frame: ChatFrame): void {
    if (frame.type === "error" && frame.code === "unauthenticated") {
      // this connection keeps its old cookie: only a new one can be authenticated
      this.socket?.close(1000);
      return;
    }
    if (frame.seq) this.seq = Math.max(this.seq ?? 0, frame.seq);
    if (frame.type === "connected") this.onConnected();
    if (frame.type === "accepted" && frame.id) this.unaccepted.delete(frame.id);
    this.listener.onFrame(frame);
  }

  private onConnected(): void {
    this.wait = SHORTEST;
    this.loggedOut = false;
    this.listener.onStatus(true);
    for (const message of this.unaccepted.values()) this.write(message);
  }
}
