// A chat with the saved agent beside its form, in a session of its own.
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { Conversation } from "../chat/Conversation";
import { useChat } from "../chat/useChat";

const SESSION = "test";

export function TestChat({ agentId, unsaved }: { agentId: string; unsaved: boolean }) {
  const { t } = useTranslation();
  const chat = useChat(agentId, SESSION);
  return (
    <section
      aria-label={t("agents.test")}
      className="flex h-[min(42rem,80dvh)] flex-col overflow-hidden rounded-card border border-line bg-surface shadow-card lg:sticky lg:top-6"
    >
      <div className="flex items-center justify-between gap-2 border-b border-line px-4 py-2.5">
        <h2 className="font-semibold">{t("agents.test")}</h2>
        <Button small weight="quiet" onClick={() => void chat.reset()}>
          {t("chat.anew")}
        </Button>
      </div>
      {unsaved && (
        <p role="status" className="bg-warn-wash px-4 py-1.5 text-sm text-warn">
          {t("agents.testUnsaved")}
        </p>
      )}
      <div className="min-h-0 flex-1">
        <Conversation agentId={agentId} chat={chat} narrow />
      </div>
    </section>
  );
}
