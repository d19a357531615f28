// What a person wrote about an MCP server, as the Host takes it.

export type ServerDraft = { name: string; transport: "http" | "sse" | "stdio"; url: string; pairs: string; command: string };

const lines = (text: string): string[] => text.split("\n").map((line) => line.trim()).filter(Boolean);

/** `Name: value` or `NAME=value`, a line each. */
export function pairsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    lines(text).map((line) => {
      const [, name = line, value = ""] = /^([^:=]+)[:=]\s*(.*)$/.exec(line) ?? [];
      return [name.trim(), value];
    }),
  );
}

export function bodyOf(draft: ServerDraft): Record<string, unknown> {
  const { name, transport } = draft;
  if (transport !== "stdio") return { name, transport, url: draft.url, headers: pairsOf(draft.pairs) };
  const [command = "", ...rest] = lines(draft.command);
  return { name, transport, command, arguments: rest, environment: pairsOf(draft.pairs) };
}
