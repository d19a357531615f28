// The client of world.py: starts it and sends it commands.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** `public`: its address behind the proxy, where there is one; `printed`: what its start said. */
export type Place = { control: string; address: string; key: string; model: string; public: string; printed: string[] };

/** A Host and what it talks to, as a process of its own; `end` leaves nothing behind. */
export class OwnWorld {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly place: Place,
  ) {}

  static async begin(
    options: { plugins?: boolean; proxied?: boolean; old_bubblewrap?: boolean } = {},
  ): Promise<OwnWorld> {
    const folder = await mkdtemp(join(tmpdir(), "parlour page "));
    const child = spawn(join(ROOT, ".venv/bin/python"), ["-m", "tests.e2e.world", folder], {
      cwd: ROOT,
      stdio: ["pipe", "pipe", "inherit"],
    });
    try {
      const control = await firstLine(child);
      const place = await tell(control, "start", options);
      return new OwnWorld(child, folder, { control, ...(place as Omit<Place, "control">) });
    } catch (error) {
      child.stdin.end();
      throw error;
    }
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.stdin?.end();
    await ended;
    await rm(this.folder, { recursive: true });
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) return line;
  throw new Error("the world ended before it said where it is");
}

async function tell(control: string, word: string, fields: object): Promise<unknown> {
  const response = await fetch(`${control}/${word}`, { method: "POST", body: JSON.stringify(fields) });
  if (!response.ok) throw new Error(`the world could not ${word}: ${await response.text()}`);
  return ((await response.json()) as { answer: unknown }).answer;
}

export type Reply = {
  pieces?: string[];
  reasoning?: string;
  gate?: string;
  seconds?: number;
  tool_calls?: object[];
  status?: number;
};

/** The commands and queries of a test world. */
export class World {
  constructor(readonly place: Place) {}

  /** One of tests/fixtures/plugins. */
  readonly install = (plugin: string) => tell(this.place.control, "install", { plugin });
  /** A plugin of one file: where that is, or its zip. */
  readonly writePlugin = (name: string, code: string, packed = false) =>
    tell(this.place.control, "write_plugin", { name, code, packed }) as Promise<string>;
  /** The configuration of an agent that uses the scripted coding agent. */
  readonly scriptedHarness = () => tell(this.place.control, "scripted_harness", {}) as Promise<object>;
  readonly stop = () => tell(this.place.control, "stop", {});
  readonly resume = () => tell(this.place.control, "resume", {});
  /** Writes old runs; the Host has to be stopped. */
  readonly writePast = (past: { hours?: number; runs?: number; minutes?: number }) =>
    tell(this.place.control, "write_past", past);
  readonly modelWill = (...replies: Reply[]) => tell(this.place.control, "will", { replies });
  readonly openGate = (gate: string) => tell(this.place.control, "open_gate", { gate });
  readonly freePort = () => tell(this.place.control, "port", {}) as Promise<number>;
  readonly connect = (port: number, account: number, groups: number[] = []) =>
    tell(this.place.control, "connect", { port, account, groups });
  readonly say = (account: number, text: string, user: number, more: { group?: number; name?: string } = {}) =>
    tell(this.place.control, "say", { account, text, user, ...more });
  readonly answered = (account: number, number: number) =>
    tell(this.place.control, "answered", { account, number }) as Promise<string[]>;
  readonly called = (account: number, action: string) =>
    tell(this.place.control, "called", { account, action }) as Promise<Record<string, unknown>>;
  /** The gateway that personal WeChat accounts log in to: its address. */
  readonly openGateway = () => tell(this.place.control, "open_gateway", {}) as Promise<string>;
  /** What the phone does with the newest QR code. */
  readonly moveLogin = (status: "scaned" | "need_verifycode" | "expired" | "confirmed", digits = "") =>
    tell(this.place.control, "move_login", { status, digits }) as Promise<number>;

  /** The interface, with the key of an admin: for what a test needs and is not about. */
  async api<T = Record<string, unknown>>(method: string, path: string, body?: object): Promise<T> {
    const headers = { Authorization: `Bearer ${this.place.key}`, "Content-Type": "application/json" };
    const response = await fetch(`${this.place.address}/api/v1${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }
}
