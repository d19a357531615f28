// The chat page: agents, sessions and the conversation.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { MessageCirclePlus, PanelLeft, Sparkles } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { Agent } from "../../api/types";
import { useRights } from "../../app/session";
import { Button, buttonClasses, IconButton } from "../../components/Button";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Select } from "../../components/Field";
import { classes } from "../../lib/classes";
import { usePageTitle } from "../../lib/usePageTitle";
import * as agentQueries from "../agents/queries";
import { Conversation } from "./Conversation";
import * as chatQueries from "./queries";
import { newSession } from "./search";
import { Sessions } from "./Sessions";
import { SESSION, useChat } from "./useChat";

export default function ChatPage() {
  const { t } = useTranslation();
  const { operate } = useRights();
  const agents = useQuery(agentQueries.agents);
  const { agentId } = useParams({ strict: false });
  const { session } = useSearch({ strict: false });
  usePageTitle(t("nav.chat"));
  if (agents.isPending)
    return (
      <div className="p-8">
        <Loading />
      </div>
    );
  if (agents.error)
    return (
      <div className="p-8">
        <ErrorMessage error={agents.error} />
      </div>
    );
  const usable = agents.data.filter((agent) => agent.enabled);
  const agent = usable.find((each) => each.agent_id === agentId) ?? usable[0];
  if (!operate)
    return (
      <div className="p-8">
        <Empty title={t("chat.viewer")} text={t("chat.viewerText")} />
      </div>
    );
  if (!agent) {
    return (
      <div className="p-8">
        <Empty icon={<Sparkles />} title={t("chat.noAgent")} text={t("chat.noAgentText")}>
          <Link to="/agents/new" className={buttonClasses("primary")}>
            {t("agents.create")}
          </Link>
        </Empty>
      </div>
    );
  }
  return <ChosenAgent key={agent.agent_id} agent={agent} agents={usable} session={session} />;
}

/** Without a session in the address, the most recent one is opened. */
function ChosenAgent({ agent, agents, session }: { agent: Agent; agents: Agent[]; session?: string }) {
  const sessions = useQuery(chatQueries.chatSessions(agent.agent_id));
  // the session stays once it is known: a new conversation in another tab must not move a user who is typing here
  const [last, setLast] = useState<string>();
  if (session === undefined && last === undefined) {
    if (sessions.isPending)
      return (
        <div className="p-8">
          <Loading />
        </div>
      );
    setLast(sessions.data?.[0]?.session ?? SESSION);
    return null;
  }
  const name = session ?? last ?? SESSION;
  return <ChatRoom key={name} agent={agent} agents={agents} session={name} />;
}

function ChatRoom({ agent, agents, session }: { agent: Agent; agents: Agent[]; session: string }) {
  const { t } = useTranslation();
  const chat = useChat(agent.agent_id, session);
  const [open, setOpen] = useState(false);
  return (
    <div className="flex h-full">
      <aside
        className={classes(
          "z-10 w-64 shrink-0 border-r border-line bg-surface lg:block",
          open ? "absolute inset-y-0 left-0 shadow-card" : "hidden",
        )}
      >
        <Sessions agentId={agent.agent_id} session={session} onChosen={() => setOpen(false)} />
      </aside>
      {open && (
        <div aria-hidden className="absolute inset-0 z-5 bg-black/30 lg:hidden" onClick={() => setOpen(false)} />
      )}
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="flex items-center gap-2 border-b border-line bg-surface px-3 py-2 sm:px-4">
          <IconButton
            label={t("chat.sessions")}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            className="lg:hidden"
          >
            <PanelLeft className="size-4.5" />
          </IconButton>
          <h1 className="sr-only">{t("nav.chat")}</h1>
          <AgentChoice agent={agent} agents={agents} />
          <span className="flex-1" />
          <NewButton agentId={agent.agent_id} />
        </header>
        <div className="min-h-0 flex-1">
          <Conversation agentId={agent.agent_id} session={session} chat={chat} />
        </div>
      </div>
    </div>
  );
}

function AgentChoice({ agent, agents }: { agent: Agent; agents: Agent[] }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return (
    <Select
      aria-label={t("chat.agent")}
      fits
      className="max-w-[60vw] min-w-0 truncate border-transparent! font-medium"
      value={agent.agent_id}
      onChange={(event) => void navigate({ to: "/chat/$agentId", params: { agentId: event.target.value }, search: {} })}
    >
      {agents.map((each) => (
        <option key={each.agent_id} value={each.agent_id}>
          {each.name}
        </option>
      ))}
    </Select>
  );
}

function NewButton({ agentId }: { agentId: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return (
    <Button
      small
      weight="quiet"
      className="shrink-0 lg:hidden"
      onClick={() => void navigate({ to: "/chat/$agentId", params: { agentId }, search: { session: newSession() } })}
    >
      <MessageCirclePlus aria-hidden className="size-4" />
      <span className="max-sm:sr-only">{t("chat.anew")}</span>
    </Button>
  );
}
