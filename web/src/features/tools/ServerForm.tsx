// An MCP server, over the network or as a command on this machine. It can be tried before it is saved.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { McpServer, McpStatus } from "../../api/facts";
import { fieldMessage } from "../../api/problem";
import { Button } from "../../components/Button";
import { Field, Input, Select, TextArea } from "../../components/Field";
import { Pairs } from "../../components/form/pairs";
import { ErrorNote } from "../../components/Notes";
import { Switch } from "../../components/Switch";
import { useSave } from "../../lib/useSave";
import { bodyOf, draftOf, FRESH, type ServerDraft } from "./server";
import { TestResult } from "./TestResult";

export function ServerForm({ server, onDone }: { server?: McpServer; onDone: () => void }) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState(server ? draftOf(server) : FRESH);
  const path = { params: { path: { server_id: server?.server_id ?? "" } } };
  const saving = useSave(
    () => {
      const body = bodyOf(draft) as never;
      return answer<McpServer>(server ? api.PUT("/api/v1/mcp-servers/{server_id}", { ...path, body }) : api.POST("/api/v1/mcp-servers", { body }));
    },
    ["mcp", "tools"],
    onDone,
  );
  const testing = useMutation({
    mutationFn: () => {
      const body = bodyOf(draft) as never;
      return answer<McpStatus>(server ? api.POST("/api/v1/mcp-servers/{server_id}/test", { ...path, body }) : api.POST("/api/v1/mcp-servers/test", { body }));
    },
  });
  const put = (change: Partial<ServerDraft>) => {
    setDraft({ ...draft, ...change });
    testing.reset(); // what was tried is not what is there any more
  };
  const problem = saving.error ?? testing.error;
  return (
    <form
      className="max-w-2xl space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        const button = (event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null;
        saving.reset();
        if (button?.value === "test") testing.mutate();
        else saving.mutate(undefined);
      }}
    >
      <Fields draft={draft} put={put} wrong={(field) => fieldMessage(problem, field)} />
      <ErrorNote error={problem} />
      {testing.data && <TestResult status={testing.data} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" weight="primary" busy={saving.isPending}>{t(server ? "common.save" : "common.add")}</Button>
        <Button type="submit" value="test" busy={testing.isPending}>{t("tools.try")}</Button>
        <Button weight="quiet" onClick={onDone}>{t("common.cancel")}</Button>
      </div>
    </form>
  );
}

function Fields({ draft, put, wrong }: { draft: ServerDraft; put: (change: Partial<ServerDraft>) => void; wrong: (field: string) => string | undefined }) {
  const { t } = useTranslation();
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={t("common.name")} hint={t("tools.nameHint")} required error={wrong("name")}>
          {(control) => <Input {...control} required pattern="[a-z0-9][a-z0-9_\-]{0,39}" value={draft.name} onChange={(event) => put({ name: event.target.value })} />}
        </Field>
        <Field label={t("tools.transport")} error={wrong("transport")}>
          {(control) => (
            <Select {...control} value={draft.transport} onChange={(event) => put({ transport: event.target.value as ServerDraft["transport"] })}>
              <option value="http">{t("tools.http")}</option>
              <option value="sse">{t("tools.sse")}</option>
              <option value="stdio">{t("tools.stdio")}</option>
            </Select>
          )}
        </Field>
      </div>
      {draft.transport === "stdio" ? (
        <>
          <Field label={t("tools.command")} hint={t("tools.commandHint")} required error={wrong("command") ?? wrong("arguments")}>
            {(control) => <TextArea {...control} required rows={3} className="font-mono text-sm" value={draft.command} onChange={(event) => put({ command: event.target.value })} />}
          </Field>
          <Field label={t("tools.environment")} hint={t("tools.sealedHint")} error={wrong("environment")}>
            {(control) => <Pairs key="environment" control={control} example="API_KEY" value={draft.environment} onChange={(environment) => put({ environment })} />}
          </Field>
        </>
      ) : (
        <>
          <Field label={t("tools.url")} required error={wrong("url")}>
            {(control) => <Input {...control} type="url" required placeholder="https://example.org/mcp" value={draft.url} onChange={(event) => put({ url: event.target.value })} />}
          </Field>
          <Field label={t("tools.headers")} hint={t("tools.sealedHint")} error={wrong("headers")}>
            {(control) => <Pairs key="headers" control={control} example="Authorization" value={draft.headers} onChange={(headers) => put({ headers })} />}
          </Field>
        </>
      )}
      <div className="flex items-center gap-2 text-sm"><Switch label={t("common.enabled")} checked={draft.enabled} onChange={(enabled) => put({ enabled })} /> {t("common.enabled")}</div>
    </>
  );
}
