// The tools that agents can call: those of the Host, of plugins, and of MCP servers.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Card, PageBody } from "../../components/Layout";
import { Tabs } from "../../components/Tabs";
import { PasteServers } from "./PasteServers";
import * as toolQueries from "./queries";
import { ServerForm } from "./ServerForm";
import { ServerRow } from "./ServerRow";
import { ToolList } from "./ToolList";

export default function ToolsPage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const tools = useQuery(toolQueries.tools);
  const servers = useQuery(toolQueries.mcpServers);
  const [adding, setAdding] = useState(false);
  return (
    <PageBody
      title={t("nav.tools")}
      text={t("tools.text")}
      actions={
        edit &&
        !adding && (
          <Button weight="primary" onClick={() => setAdding(true)}>
            {t("tools.addServer")}
          </Button>
        )
      }
    >
      <div className="space-y-6">
        {adding && (
          <Card title={t("tools.addServer")}>
            <AddServer onDone={() => setAdding(false)} />
          </Card>
        )}
        <Card title={t("tools.servers")}>
          <ErrorMessage error={servers.error} />
          {servers.data?.length === 0 && <p className="text-sm text-quiet">{t("tools.noServers")}</p>}
          <ul className="-my-3 divide-y divide-line empty:hidden">
            {servers.data?.map((server) => (
              <ServerRow key={server.server_id} server={server} edit={edit} />
            ))}
          </ul>
        </Card>
        <ErrorMessage error={tools.error} />
        {tools.isPending && <Loading />}
        {tools.data && <ToolList tools={tools.data} />}
      </div>
    </PageBody>
  );
}

function AddServer({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const tabs = [
    { id: "form", label: t("tools.byForm"), content: <ServerForm onDone={onDone} /> },
    { id: "paste", label: t("tools.byPaste"), content: <PasteServers onDone={onDone} /> },
  ];
  return <Tabs tabs={tabs} />;
}
