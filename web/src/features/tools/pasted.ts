// Reads MCP servers from the JSON of other programs, such as Claude Desktop's `mcpServers`.

/** A server as `POST /mcp-servers` takes it. */
export type PastedServer =
  | {
      name: string;
      transport: "stdio";
      command: string;
      arguments: string[];
      environment: Record<string, string>;
      enabled: boolean;
      confirmation?: string;
    }
  | { name: string; transport: "http" | "sse"; url: string; headers: Record<string, string>; enabled: boolean };
/** The servers that were found, or the problem: a key of the page's texts and the name that it is about. */
export type Pasted = { servers: PastedServer[]; problem?: { key: string; name?: string } };

type Entry = Record<string, unknown>;

const isObject = (value: unknown): value is Entry =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns a name that the Host accepts, short and in lower case: `My Files` becomes `my-files`. */
export function nameOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[-_]+|-+$/g, "")
    .slice(0, 40);
}

export function readPasted(text: string): Pasted {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return failure("tools.pasteNotJson");
  }
  const entries = isObject(content) ? (content.mcpServers ?? content.servers ?? content) : undefined;
  if (!isObject(entries) || Object.keys(entries).length === 0) return failure("tools.pasteNoServers");
  const servers: PastedServer[] = [];
  for (const [name, entry] of Object.entries(entries)) {
    const server = isObject(entry) ? serverOf(nameOf(name), entry) : null;
    if (!server) return failure("tools.pasteIncomplete", name);
    if (!server.name) return failure("tools.pasteName", name);
    if (servers.some((other) => other.name === server.name)) return failure("tools.pasteTwice", server.name);
    servers.push(server);
  }
  return { servers };
}

const failure = (key: string, name?: string): Pasted => ({ servers: [], problem: { key, name } });

function serverOf(name: string, entry: Entry): PastedServer | null {
  const enabled = entry.disabled !== true;
  const url = entry.url ?? entry.serverUrl;
  if (typeof entry.command === "string" && entry.command) {
    const args = Array.isArray(entry.args) ? entry.args.map(String) : [];
    return {
      name,
      transport: "stdio",
      command: entry.command,
      arguments: args,
      environment: texts(entry.env),
      enabled,
    };
  }
  if (typeof url !== "string" || !url) return null;
  const transport = [entry.type, entry.transport].includes("sse") ? "sse" : "http";
  return { name, transport, url, headers: texts(entry.headers), enabled };
}

function texts(values: unknown): Record<string, string> {
  return isObject(values)
    ? Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))
    : {};
}

export const isCommand = (server: PastedServer): boolean => server.transport === "stdio";

/** Adds the user's confirmation where one is needed. */
export function bodyOf(server: PastedServer, confirmation: string): PastedServer {
  return server.transport === "stdio" && confirmation ? { ...server, confirmation } : server;
}
