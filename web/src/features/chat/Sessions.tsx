// The sessions of the user with an agent, newest first, each with its first words.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { MessageCirclePlus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { ChatSession } from "../../api/types";
import { buttonClasses, IconButton } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { classes } from "../../lib/classes";
import { formatTime } from "../../lib/format";
import { useSave } from "../../lib/useSave";
import * as chatQueries from "./queries";
import { newSession } from "./search";

export function Sessions({ agentId, session, onChosen }: { agentId: string; session: string; onChosen?: () => void }) {
  const { t } = useTranslation();
  const sessions = useQuery(chatQueries.chatSessions(agentId)).data ?? [];
  const [going, setGoing] = useState<ChatSession | null>(null);
  return (
    <nav aria-label={t("chat.sessions")} className="flex h-full min-h-0 flex-col gap-3 p-3">
      <Link
        to="/chat/$agentId"
        params={{ agentId }}
        search={() => ({ session: newSession() })}
        onClick={onChosen}
        preload={false}
        className={buttonClasses("plain")}
      >
        <MessageCirclePlus aria-hidden className="size-4" />
        {t("chat.anew")}
      </Link>
      <ul className="min-h-0 flex-1 space-y-0.5 overflow-y-auto">
        {sessions.map((each) => (
          <li key={each.session} className="group relative">
            <SessionLink agentId={agentId} shown={each} active={each.session === session} onChosen={onChosen} />
            <IconButton
              label={t("chat.deleteSession", { name: each.title ?? each.session })}
              onClick={() => setGoing(each)}
              className="absolute top-2 right-1 size-8 bg-surface opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
            >
              <Trash2 className="size-4" />
            </IconButton>
          </li>
        ))}
      </ul>
      <Deletion agentId={agentId} session={session} going={going} onClose={() => setGoing(null)} />
    </nav>
  );
}

function SessionLink({
  agentId,
  shown,
  active,
  onChosen,
}: {
  agentId: string;
  shown: ChatSession;
  active: boolean;
  onChosen?: () => void;
}) {
  const { t, i18n } = useTranslation();
  return (
    <Link
      to="/chat/$agentId"
      params={{ agentId }}
      search={{ session: shown.session }}
      onClick={onChosen}
      aria-current={active ? "page" : undefined}
      preload={false}
      className={classes(
        "block rounded-control px-3 py-2 -outline-offset-2",
        active ? "bg-accent-wash" : "hover:bg-raised",
      )}
    >
      <span className={classes("block truncate text-sm", active && "font-medium text-accent")}>
        {shown.title || t("chat.untitled")}
      </span>
      <span className="block truncate text-xs text-quiet tabular-nums">
        {formatTime(shown.updated_at, i18n.language)}
      </span>
    </Link>
  );
}

function Deletion({
  agentId,
  session,
  going,
  onClose,
}: {
  agentId: string;
  session: string;
  going: ChatSession | null;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const deleting = useSave(
    (chat: ChatSession) =>
      answer(
        api.DELETE("/api/v1/conversations/{conversation_id}", {
          params: { path: { conversation_id: chat.conversation_id } },
        }),
      ),
    ["chatSessions"],
    (_, deleted) => {
      onClose();
      if (deleted.session === session)
        void navigate({ to: "/chat/$agentId", params: { agentId }, search: { session: newSession() }, replace: true });
    },
  );
  return (
    <Confirm
      open={going !== null}
      title={t("chat.deleteTitle", { name: going?.title || t("chat.untitled") })}
      text={t("chat.deleteText")}
      action={t("common.delete")}
      busy={deleting.isPending}
      error={deleting.error}
      onConfirm={() => going && deleting.mutate(going)}
      onClose={onClose}
    />
  );
}
