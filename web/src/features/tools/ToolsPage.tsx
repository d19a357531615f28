// What agents can call: the Host's own tools, those of plugins, and those of MCP servers.
import { useMutation, useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { McpServer } from "../../api/facts";
import * as queries from "../../api/queries";
import { useRights } from "../../app/session";
import { Button, IconButton } from "../../components/Button";
import { Row, Rows } from "../../components/List";
import { ErrorNote, Loading } from "../../components/Notes";
import { Badge, Card, PageBody, State } from "../../components/Surfaces";
import { useSave } from "../../lib/useSave";
import { AddServer } from "./AddServer";

export default function ToolsPage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const tools = useQuery(queries.tools);
  const servers = useQuery(queries.mcpServers);
  const [adding, setAdding] = useState(false);
  return (
    <PageBody title={t("nav.tools")} text={t("tools.text")} actions={edit && !adding && <Button weight="primary" onClick={() => setAdding(true)}>{t("tools.addServer")}</Button>}>
      <div className="space-y-6">
        {adding && <AddServer onDone={() => setAdding(false)} />}
        <Card title={t("tools.servers")}>
          <ErrorNote error={servers.error} />
          {servers.data?.length === 0 && <p className="text-sm text-quiet">{t("tools.noServers")}</p>}
          <ul className="divide-y divide-line">{servers.data?.map((server) => <Server key={server.server_id} server={server} edit={edit} />)}</ul>
        </Card>
        <section className="space-y-3">
          <h2 className="font-semibold">{t("tools.all")}</h2>
          <ErrorNote error={tools.error} />
          {tools.isPending && <Loading />}
          <Rows>
            {tools.data?.map((tool) => (
              <Row
                key={tool.tool_name}
                title={<span className="font-mono text-sm">{tool.tool_name}</span>}
                text={tool.description}
                marks={<><Badge>{tool.source}</Badge>{tool.read_only && <Badge tone="good">{t("tools.readOnly")}</Badge>}</>}
              />
            ))}
          </Rows>
        </section>
      </div>
    </PageBody>
  );
}

function Server({ server, edit }: { server: McpServer; edit: boolean }) {
  const { t } = useTranslation();
  const path = { params: { path: { server_id: server.server_id } } };
  const testing = useMutation({ mutationFn: () => answer<{ ok?: boolean; message?: string }>(api.POST("/api/v1/mcp-servers/{server_id}/test", path)) });
  const deleting = useSave(() => answer(api.DELETE("/api/v1/mcp-servers/{server_id}", path)), ["mcp", "tools"]);
  return (
    <li className="space-y-2 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-0 flex-1 basis-48">
          <div className="font-medium">{server.name}</div>
          <div className="truncate text-sm text-quiet">{server.url || [server.command, ...server.arguments].join(" ")}</div>
        </div>
        {server.status && <State state={server.status.state} />}
        {edit && <Button small busy={testing.isPending} onClick={() => testing.mutate()}>{t("models.test")}</Button>}
        {edit && <IconButton label={t("common.delete")} onClick={() => deleting.mutate(undefined)}><Trash2 className="size-4" /></IconButton>}
      </div>
      <ErrorNote error={testing.error ?? deleting.error ?? (testing.data?.ok === false ? new Error(testing.data.message) : null)} />
      {testing.data && testing.data.ok !== false && <p role="status" className="text-sm text-good">{testing.data.message ?? t("tools.works")}</p>}
    </li>
  );
}
