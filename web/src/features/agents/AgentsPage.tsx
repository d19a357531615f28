// All agents.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MessageCircle, Sparkles } from "lucide-react";
import { useTranslation } from "react-i18next";

import { useRights } from "../../app/session";
import { Avatar } from "../../components/Avatar";
import { buttonClasses } from "../../components/Button";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Badge, PageBody } from "../../components/Layout";
import { Row, Rows } from "../../components/List";
import { localized } from "../../lib/format";
import * as agentQueries from "./queries";

export default function AgentsPage() {
  const { t, i18n } = useTranslation();
  const { edit } = useRights();
  const agents = useQuery(agentQueries.agents);
  const runners = useQuery(agentQueries.runners).data ?? [];
  const label = (id: string) => localized(runners.find((runner) => runner.id === id)?.label, i18n.language) || id;
  const create = edit && (
    <Link to="/agents/new" className={buttonClasses("primary")}>
      {t("agents.create")}
    </Link>
  );
  return (
    <PageBody title={t("nav.agents")} text={t("agents.text")} actions={create}>
      <ErrorMessage error={agents.error} />
      {agents.isPending && <Loading />}
      {agents.data?.length === 0 && (
        <Empty icon={<Sparkles />} title={t("agents.empty")} text={t("agents.emptyText")}>
          {create}
        </Empty>
      )}
      {!!agents.data?.length && (
        <Rows>
          {agents.data.map((agent) => (
            <Row
              key={agent.agent_id}
              sign={<Avatar name={agent.name} />}
              title={
                <Link to="/agents/$agentId" params={{ agentId: agent.agent_id }} className="hover:underline">
                  {agent.name}
                </Link>
              }
              text={agent.description}
              marks={
                <>
                  <Badge>{label(agent.runner_id)}</Badge>
                  {!agent.enabled && <Badge tone="warn">{t("common.disabled")}</Badge>}
                </>
              }
              actions={
                <Link to="/chat/$agentId" params={{ agentId: agent.agent_id }} className={buttonClasses("quiet", true)}>
                  <MessageCircle aria-hidden className="size-4" /> {t("nav.chat")}
                </Link>
              }
            />
          ))}
        </Rows>
      )}
    </PageBody>
  );
}
