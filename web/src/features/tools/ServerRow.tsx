// One MCP server: its state, a test, and its form.
import { useMutation } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { McpServer } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { DeleteButton } from "../../components/DeleteButton";
import { ErrorMessage } from "../../components/Feedback";
import { Badge, State } from "../../components/Layout";
import { ServerForm } from "./ServerForm";
import { TestResult } from "./TestResult";

export function ServerRow({ server, edit }: { server: McpServer; edit: boolean }) {
  const { t } = useTranslation();
  const [editing, setEditing] = useState(false);
  const path = { params: { path: { server_id: server.server_id } } };
  const testing = useMutation({ mutationFn: () => answer(api.POST("/api/v1/mcp-servers/{server_id}/test", path)) });
  const lastError = testing.data ? null : server.enabled && server.status.last_error;
  return (
    <li className="space-y-2 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-0 flex-1 basis-48">
          <div className="flex flex-wrap items-center gap-2 font-medium">
            {server.name}{" "}
            {server.enabled ? <State state={server.status.state} /> : <Badge>{t("common.disabled")}</Badge>}
            {server.status.tools.length > 0 && <Badge>{t("tools.count", { count: server.status.tools.length })}</Badge>}
          </div>
          <div className="truncate text-sm text-quiet">
            {server.url || [server.command, ...server.arguments].join(" ")}
          </div>
        </div>
        {edit && (
          <>
            <Button
              small
              busy={testing.isPending}
              aria-label={t("models.testName", { name: server.name })}
              onClick={() => testing.mutate()}
            >
              {t("models.test")}
            </Button>
            <IconButton
              label={t("models.edit", { name: server.name })}
              aria-expanded={editing}
              onClick={() => setEditing(!editing)}
            >
              <Pencil className="size-4" />
            </IconButton>
            <DeleteButton
              icon
              label={t("models.delete", { name: server.name })}
              title={t("tools.deleteTitle", { name: server.name })}
              text={t("tools.deleteText")}
              remove={() => answer(api.DELETE("/api/v1/mcp-servers/{server_id}", path))}
              stale={["mcp", "tools"]}
            />
          </>
        )}
      </div>
      {lastError && <ErrorMessage error={new Error(lastError)} mild />}
      <ErrorMessage error={testing.error} />
      {testing.data && <TestResult status={testing.data} />}
      {editing && (
        <div className="rounded-card bg-raised/50 p-4">
          <ServerForm server={server} onDone={() => setEditing(false)} />
        </div>
      )}
    </li>
  );
}
