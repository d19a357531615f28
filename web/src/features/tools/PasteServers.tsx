// Adds MCP servers from pasted JSON, as other programs keep them.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Field, TextArea } from "../../components/Field";
import { Badge } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { useSave } from "../../lib/useSave";
import { Confirmation, useCommandsAllowed } from "./Confirmation";
import { bodyOf, isCommand, type PastedServer, readPasted } from "./pasted";
import { confirmed } from "./server";

const EXAMPLE = `{
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/files"] }
  }
}`;

export function PasteServers({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState("");
  const [typed, setTyped] = useState("");
  const [added, setAdded] = useState<string[]>([]);
  const allowed = useCommandsAllowed();
  const pasted = text.trim() ? readPasted(text) : null;
  const remaining = (pasted?.servers ?? []).filter((server) => !added.includes(server.name));
  const commands = remaining.filter(isCommand);
  const needsConfirming = commands.length > 0 && !allowed;
  const adding = useSave(
    async (servers: PastedServer[]) => {
      // one after the other: what is added stays added when a later one is refused
      for (const server of servers) {
        const body = bodyOf(server, needsConfirming ? confirmed(typed, t("tools.confirmWords")) : "");
        await answer(api.POST("/api/v1/mcp-servers", { body }));
        setAdded((names) => [...names, server.name]);
      }
    },
    ["mcp", "tools"],
    onDone,
  );
  const problem = pasted?.problem && t(pasted.problem.key, { name: pasted.problem.name });
  const confirmationError = fieldMessage(adding.error, "confirmation");
  return (
    <form
      className="max-w-2xl space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        adding.mutate(remaining);
      }}
    >
      <LeaveGuard dirty={!adding.isSuccess && text.trim() !== ""} />
      <Field label={t("tools.pasteLabel")} hint={t("tools.pasteHint")} required error={problem}>
        {(control) => (
          <TextArea
            {...control}
            required
            rows={9}
            spellCheck={false}
            className="font-mono text-sm"
            placeholder={EXAMPLE}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      {remaining.length > 0 && (
        <ul aria-label={t("tools.servers")} className="space-y-1.5">
          {remaining.map((server) => (
            <li key={server.name} className="flex flex-wrap items-center gap-2 text-sm">
              <span className="font-medium">{server.name}</span> <Badge>{t(`tools.${server.transport}`)}</Badge>
              <span className="min-w-0 break-all text-quiet">{lineOf(server)}</span>
            </li>
          ))}
        </ul>
      )}
      {needsConfirming && (
        <Confirmation commands={commands.map(lineOf)} value={typed} onChange={setTyped} error={confirmationError} />
      )}
      {!confirmationError && <ErrorMessage error={adding.error} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" weight="primary" busy={adding.isPending} disabled={remaining.length === 0}>
          {remaining.length ? t("tools.pasteAdd", { count: remaining.length }) : t("common.add")}
        </Button>
        <Button weight="quiet" onClick={onDone}>
          {t("common.cancel")}
        </Button>
      </div>
    </form>
  );
}

const lineOf = (server: PastedServer): string =>
  server.transport === "stdio" ? [server.command, ...server.arguments].join(" ") : server.url;
