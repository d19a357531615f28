// An MCP server while it is edited, and as the Host takes it.
import type { McpServer, McpServerBody, McpStatus } from "../../api/types";

export type ServerDraft = {
  name: string;
  transport: McpServer["transport"];
  url: string;
  headers: Record<string, string>;
  command: string;
  environment: Record<string, string>;
  enabled: boolean;
  /** Whether the command runs in the sandbox; with a network, and with these files of the machine, one per line. */
  sandboxed: boolean;
  network: boolean;
  mounts: string;
  restart: McpServer["restart"];
  /** Of the process in the sandbox, in MiB; empty: as much as the sandbox has. */
  memory: string;
  /** The typed confirmation that a command may run outside any sandbox. */
  confirmation: string;
};

/** The words that the Host takes as a confirmation; the page asks for them in its own language. */
const CONFIRMATION = "run without a sandbox";

export const FRESH: ServerDraft = {
  name: "",
  transport: "http",
  url: "",
  headers: {},
  command: "",
  environment: {},
  enabled: true,
  sandboxed: true,
  network: false,
  mounts: "",
  restart: "always",
  memory: "",
  confirmation: "",
};

const lines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

export function draftOf(server: McpServer): ServerDraft {
  const { name, transport, url, headers, environment, enabled, sandboxed, network, mounts, restart } = server;
  return {
    name,
    transport,
    url,
    headers,
    environment,
    enabled,
    sandboxed,
    network,
    mounts: mounts.join("\n"),
    restart,
    memory: server.memory_mb ? String(server.memory_mb) : "",
    confirmation: "",
    command: [server.command, ...server.arguments].join("\n"),
  };
}

/** Returns the body of a request without the fields of the other transport, which the Host refuses. */
export function bodyOf(draft: ServerDraft): McpServerBody {
  const { name, transport, enabled } = draft;
  if (transport !== "stdio") return { name, transport, enabled, url: draft.url, headers: draft.headers };
  const [command = "", ...rest] = lines(draft.command);
  const { environment, sandboxed, network, restart } = draft;
  const common = { name, transport, enabled, command, arguments: rest, environment, restart };
  if (sandboxed)
    return { ...common, sandboxed, network, mounts: lines(draft.mounts), memory_mb: Number(draft.memory) || 0 };
  return { ...common, ...(draft.confirmation ? { confirmation: draft.confirmation } : {}) };
}

/** A confirmation holds for one command with its arguments and environment. */
export function needsConfirmation(draft: ServerDraft, server: McpServer | undefined): boolean {
  if (draft.transport !== "stdio" || draft.sandboxed) return false;
  if (!server?.unsandboxed_by || server.transport !== "stdio") return true;
  const parts = (each: ServerDraft) => JSON.stringify([lines(each.command), each.environment]);
  return parts(draft) !== parts(draftOf(server));
}

/** Returns the confirmation to send: the Host's phrase if the phrase of the page was typed. */
export const confirmed = (typed: string, words: string): string =>
  typed.trim().toLowerCase() === words.toLowerCase() ? CONFIRMATION : typed;

export const works = (status: McpStatus): boolean => status.state !== "failed" && !status.last_error;
