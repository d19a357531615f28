// Talk to any agent.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { MessageCirclePlus, Sparkles } from "lucide-react";
import { useTranslation } from "react-i18next";

import type { Agent } from "../../api/facts";
import * as queries from "../../api/queries";
import { Button, buttonClasses } from "../../components/Button";
import { Select } from "../../components/Field";
import { Empty, Loading } from "../../components/Notes";
import { useRights } from "../../app/session";
import { Talk } from "./Talk";
import { useChat } from "./useChat";

export default function ChatPage() {
  const { t } = useTranslation();
  const { operate } = useRights();
  const agents = useQuery(queries.agents);
  const { agentId } = useParams({ strict: false });
  if (agents.isPending) return <div className="p-8"><Loading /></div>;
  const usable = agents.data?.filter((agent) => agent.enabled) ?? [];
  const agent = usable.find((each) => each.agent_id === agentId) ?? usable[0];
  if (!operate) return <div className="p-8"><Empty title={t("chat.viewer")} text={t("chat.viewerText")} /></div>;
  if (!agent) {
    return (
      <div className="p-8">
        <Empty icon={<Sparkles />} title={t("chat.noAgent")} text={t("chat.noAgentText")}>
          <Link to="/agents/new" className={buttonClasses("primary")}>{t("agents.create")}</Link>
        </Empty>
      </div>
    );
  }
  return <Room key={agent.agent_id} agent={agent} agents={usable} />;
}

function Room({ agent, agents }: { agent: Agent; agents: Agent[] }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const chat = useChat(agent.agent_id);
  return (
    <div className="flex h-full flex-col">
      <header className="flex items-center gap-2 border-b border-line bg-surface px-4 py-2">
        <h1 className="sr-only">{t("nav.chat")}</h1>
        <Select
          aria-label={t("chat.agent")}
          fits className="max-w-[60vw] !border-transparent font-medium"
          value={agent.agent_id}
          onChange={(event) => void navigate({ to: "/chat/$agentId", params: { agentId: event.target.value } })}
        >
          {agents.map((each) => <option key={each.agent_id} value={each.agent_id}>{each.name}</option>)}
        </Select>
        <span className="flex-1" />
        <Button small weight="quiet" onClick={() => void chat.anew()}>
          <MessageCirclePlus aria-hidden className="size-4" />
          <span className="max-sm:sr-only">{t("chat.anew")}</span>
        </Button>
      </header>
      <div className="min-h-0 flex-1">
        <Talk agentId={agent.agent_id} chat={chat} />
      </div>
    </div>
  );
}
