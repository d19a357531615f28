// One more MCP server, over the network or as a command on this machine.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { McpServer } from "../../api/facts";
import { fieldMessage } from "../../api/problem";
import { Button } from "../../components/Button";
import { Field, Input, Select, TextArea } from "../../components/Field";
import { ErrorNote } from "../../components/Notes";
import { Card } from "../../components/Surfaces";
import { useSave } from "../../lib/useSave";
import { bodyOf, type ServerDraft } from "./server";

export function AddServer({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState<ServerDraft>({ name: "", transport: "http", url: "", pairs: "", command: "" });
  const put = (change: Partial<ServerDraft>) => setDraft({ ...draft, ...change });
  const remote = draft.transport !== "stdio";
  const adding = useSave(() => answer<McpServer>(api.POST("/api/v1/mcp-servers", { body: bodyOf(draft) as never })), ["mcp", "tools"], onDone);
  return (
    <Card title={t("tools.addServer")}>
      <form
        className="space-y-5"
        onSubmit={(event) => {
          event.preventDefault();
          adding.mutate(undefined);
        }}
      >
        <div className="grid gap-5 sm:grid-cols-2">
          <Field label={t("common.name")} hint={t("tools.nameHint")} required error={fieldMessage(adding.error, "name")}>
            {(control) => <Input {...control} required value={draft.name} onChange={(event) => put({ name: event.target.value })} />}
          </Field>
          <Field label={t("tools.transport")} error={fieldMessage(adding.error, "transport")}>
            {(control) => (
              <Select {...control} value={draft.transport} onChange={(event) => put({ transport: event.target.value as ServerDraft["transport"] })}>
                <option value="http">HTTP</option>
                <option value="sse">SSE</option>
                <option value="stdio">{t("tools.stdio")}</option>
              </Select>
            )}
          </Field>
        </div>
        {remote ? (
          <Field label={t("tools.url")} required error={fieldMessage(adding.error, "url")}>
            {(control) => <Input {...control} type="url" required placeholder="https://example.org/mcp" value={draft.url} onChange={(event) => put({ url: event.target.value })} />}
          </Field>
        ) : (
          <Field label={t("tools.command")} hint={t("tools.commandHint")} required error={fieldMessage(adding.error, "command")}>
            {(control) => <TextArea {...control} required rows={3} className="font-mono text-sm" value={draft.command} onChange={(event) => put({ command: event.target.value })} />}
          </Field>
        )}
        <Field label={t(remote ? "tools.headers" : "tools.environment")} hint={t("tools.pairsHint")} error={fieldMessage(adding.error, remote ? "headers" : "environment")}>
          {(control) => <TextArea {...control} rows={2} className="font-mono text-sm" value={draft.pairs} onChange={(event) => put({ pairs: event.target.value })} />}
        </Field>
        <ErrorNote error={adding.error} />
        <div className="flex gap-2">
          <Button type="submit" weight="primary" busy={adding.isPending}>{t("common.add")}</Button>
          <Button weight="quiet" onClick={onDone}>{t("common.cancel")}</Button>
        </div>
      </form>
    </Card>
  );
}
