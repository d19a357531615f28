// An MCP server while it is edited, and as the Host takes it.
import type { McpServer, McpStatus } from "../../api/facts";

export type ServerDraft = {
  name: string;
  transport: McpServer["transport"];
  url: string;
  headers: Record<string, string>;
  command: string;
  environment: Record<string, string>;
  enabled: boolean;
};

export const FRESH: ServerDraft = { name: "", transport: "http", url: "", headers: {}, command: "", environment: {}, enabled: true };

const lines = (text: string): string[] => text.split("\n").map((line) => line.trim()).filter(Boolean);

export function draftOf(server: McpServer): ServerDraft {
  const { name, transport, url, headers, environment, enabled } = server;
  return { name, transport, url, headers, environment, enabled, command: [server.command, ...server.arguments].join("\n") };
}

/** What belongs to the other kind of connection is left out: the Host refuses it. */
export function bodyOf(draft: ServerDraft): Record<string, unknown> {
  const { name, transport, enabled } = draft;
  if (transport !== "stdio") return { name, transport, enabled, url: draft.url, headers: draft.headers };
  const [command = "", ...rest] = lines(draft.command);
  return { name, transport, enabled, command, arguments: rest, environment: draft.environment };
}

export const works = (status: McpStatus): boolean => status.state !== "failed" && !status.last_error;
