// The form of an MCP server, over the network or as a command on the machine. It can be tested before it is saved.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch, type Versioned } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { McpServer } from "../../api/types";
import { Button } from "../../components/Button";
import { ConflictNote } from "../../components/ConflictNote";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input, Select, TextArea } from "../../components/Field";
import { Pairs } from "../../components/form/pairs";
import { FormSnapshot } from "../../components/FormSnapshot";
import { LeaveGuard } from "../../components/LeaveGuard";
import { Switch } from "../../components/Switch";
import { useSaveWithConflict } from "../../lib/useSaveWithConflict";
import { Confirmation, useCommandsAllowed } from "./Confirmation";
import * as toolQueries from "./queries";
import { bodyOf, confirmed, draftOf, FRESH, needsConfirmation, type ServerDraft } from "./server";
import { TestResult } from "./TestResult";

export function ServerForm({ server, onDone }: { server?: McpServer; onDone: () => void }) {
  if (!server) return <Form opened={null} onDone={onDone} />;
  return (
    <FormSnapshot query={toolQueries.mcpServer(server.server_id)}>
      {(opened, reopen) => <Form opened={opened} onTheirs={reopen} onDone={onDone} />}
    </FormSnapshot>
  );
}

function Form({
  opened,
  onTheirs,
  onDone,
}: {
  opened: Versioned<McpServer> | null;
  onTheirs?: (theirs: Versioned<McpServer>) => void;
  onDone: () => void;
}) {
  const { t } = useTranslation();
  const server = opened?.value;
  const [draft, setDraft] = useState(server ? draftOf(server) : FRESH);
  const [initial] = useState(draft);
  const allowed = useCommandsAllowed();
  const needsConfirming = !allowed && needsConfirmation(draft, server);
  const toRequest = () =>
    bodyOf({ ...draft, confirmation: needsConfirming ? confirmed(draft.confirmation, t("tools.confirmWords")) : "" });
  const path = { server_id: server?.server_id ?? "" };
  const saving = useSaveWithConflict({
    base: opened,
    query: server ? toolQueries.mcpServer(server.server_id) : null,
    bodyOf: (each: McpServer) => bodyOf(draftOf(each)),
    put: (body, over) => {
      if (!over) return answer(api.POST("/api/v1/mcp-servers", { body }));
      return answer(api.PUT("/api/v1/mcp-servers/{server_id}", { params: { path, header: ifMatch(over) }, body }));
    },
    stale: ["mcp", "tools"],
    after: onDone,
  });
  const testing = useMutation({
    mutationFn: () => {
      const body = toRequest();
      return answer(
        server
          ? api.POST("/api/v1/mcp-servers/{server_id}/test", { params: { path }, body })
          : api.POST("/api/v1/mcp-servers/test", { body }),
      );
    },
  });
  const update = (change: Partial<ServerDraft>) => {
    setDraft({ ...draft, ...change });
    testing.reset(); // the result is not that of the changed settings
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
        else saving.save(toRequest());
      }}
    >
      <LeaveGuard dirty={!saving.isSuccess && JSON.stringify(draft) !== JSON.stringify(initial)} spansTabs={!!server} />
      <Fields draft={draft} put={update} wrong={(field) => fieldMessage(problem, field)} />
      {needsConfirming && (
        <Confirmation
          commands={[draft.command.split("\n").join(" ")]}
          value={draft.confirmation}
          onChange={(confirmation) => update({ confirmation })}
          error={fieldMessage(problem, "confirmation")}
        />
      )}
      <ErrorMessage error={problem} />
      {onTheirs && (
        <ConflictNote
          name={draft.name}
          conflict={saving.conflict}
          busy={saving.isPending}
          onTheirs={onTheirs}
          onMine={saving.overwrite}
        />
      )}
      {testing.data && <TestResult status={testing.data} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" weight="primary" busy={saving.isPending}>
          {t(server ? "common.save" : "common.add")}
        </Button>
        <Button type="submit" value="test" busy={testing.isPending}>
          {t("tools.try")}
        </Button>
        <Button weight="quiet" onClick={onDone}>
          {t("common.cancel")}
        </Button>
      </div>
    </form>
  );
}

function Fields({
  draft,
  put,
  wrong,
}: {
  draft: ServerDraft;
  put: (change: Partial<ServerDraft>) => void;
  wrong: (field: string) => string | undefined;
}) {
  const { t } = useTranslation();
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={t("common.name")} hint={t("tools.nameHint")} required error={wrong("name")}>
          {(control) => (
            <Input
              {...control}
              required
              pattern="[a-z0-9][a-z0-9_\-]{0,39}"
              value={draft.name}
              onChange={(event) => put({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label={t("tools.transport")} error={wrong("transport")}>
          {(control) => (
            <Select
              {...control}
              value={draft.transport}
              onChange={(event) => put({ transport: event.target.value as ServerDraft["transport"] })}
            >
              <option value="http">{t("tools.http")}</option>
              <option value="sse">{t("tools.sse")}</option>
              <option value="stdio">{t("tools.stdio")}</option>
            </Select>
          )}
        </Field>
      </div>
      {draft.transport === "stdio" ? (
        <>
          <Field
            label={t("tools.command")}
            hint={t("tools.commandHint")}
            required
            error={wrong("command") ?? wrong("arguments")}
          >
            {(control) => (
              <TextArea
                {...control}
                required
                rows={3}
                className="font-mono text-sm"
                value={draft.command}
                onChange={(event) => put({ command: event.target.value })}
              />
            )}
          </Field>
          <Field label={t("tools.environment")} hint={t("tools.sealedHint")} error={wrong("environment")}>
            {(control) => (
              <Pairs
                key="environment"
                control={control}
                example="API_KEY"
                value={draft.environment}
                onChange={(environment) => put({ environment })}
              />
            )}
          </Field>
          <Field label={t("tools.sandboxed")} hint={t("tools.sandboxedHint")}>
            {(control) => (
              <Switch id={control.id} checked={draft.sandboxed} onChange={(sandboxed) => put({ sandboxed })} />
            )}
          </Field>
          <Field label={t("tools.restart")} hint={t("tools.restartHint")}>
            {(control) => (
              <Select
                {...control}
                value={draft.restart}
                onChange={(event) => put({ restart: event.target.value as ServerDraft["restart"] })}
              >
                <option value="always">{t("tools.restartAlways")}</option>
                <option value="on_failure">{t("tools.restartOnFailure")}</option>
                <option value="never">{t("tools.restartNever")}</option>
              </Select>
            )}
          </Field>
          {draft.sandboxed && (
            <>
              <Field label={t("tools.network")} hint={t("tools.networkHint")}>
                {(control) => (
                  <Switch id={control.id} checked={draft.network} onChange={(network) => put({ network })} />
                )}
              </Field>
              <Field label={t("tools.mounts")} hint={t("tools.mountsHint")} error={wrong("mounts")}>
                {(control) => (
                  <TextArea
                    {...control}
                    rows={2}
                    className="font-mono text-sm"
                    value={draft.mounts}
                    onChange={(event) => put({ mounts: event.target.value })}
                  />
                )}
              </Field>
              <Field label={t("tools.memory")} hint={t("tools.memoryHint")} error={wrong("memory_mb")}>
                {(control) => (
                  <Input
                    {...control}
                    type="number"
                    min={32}
                    max={16384}
                    value={draft.memory}
                    onChange={(event) => put({ memory: event.target.value })}
                  />
                )}
              </Field>
            </>
          )}
        </>
      ) : (
        <>
          <Field label={t("tools.url")} required error={wrong("url")}>
            {(control) => (
              <Input
                {...control}
                type="url"
                required
                placeholder="https://example.org/mcp"
                value={draft.url}
                onChange={(event) => put({ url: event.target.value })}
              />
            )}
          </Field>
          <Field label={t("tools.headers")} hint={t("tools.sealedHint")} error={wrong("headers")}>
            {(control) => (
              <Pairs
                key="headers"
                control={control}
                example="Authorization"
                value={draft.headers}
                onChange={(headers) => put({ headers })}
              />
            )}
          </Field>
        </>
      )}
      <div className="flex items-center gap-2 text-sm">
        <Switch label={t("common.enabled")} checked={draft.enabled} onChange={(enabled) => put({ enabled })} />{" "}
        {t("common.enabled")}
      </div>
    </>
  );
}
