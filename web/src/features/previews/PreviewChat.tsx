// Talks to a bot or a pipeline as if on its platform: a real run with a history of its own, and nothing is sent there.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { EventResult, TranscriptItem } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { Collapsible } from "../../components/Collapsible";
import { DeleteButton } from "../../components/DeleteButton";
import { ErrorMessage } from "../../components/Feedback";
import { TextArea } from "../../components/Field";
import { Card } from "../../components/Layout";
import { Markdown } from "../../components/Markdown";
import { useSave } from "../../lib/useSave";
import { ApprovalCard } from "../approvals/ApprovalCard";
import * as approvalQueries from "../approvals/queries";
import { Why } from "../runs/Why";
import * as previewQueries from "./queries";
import { SceneFields } from "./SceneFields";

export function PreviewChat({ target, unsaved }: { target: previewQueries.Target; unsaved?: boolean }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  if (!edit) return <p className="text-sm text-quiet">{t("previews.adminsOnly")}</p>;
  return <Chat target={target} unsaved={unsaved} />;
}

function Chat({ target, unsaved }: { target: previewQueries.Target; unsaved?: boolean }) {
  const { t } = useTranslation();
  const [scene, setScene] = useState(previewQueries.FIRST_SCENE);
  const [text, setText] = useState("");
  const past = useQuery(previewQueries.history(target, scene));
  const sending = useSave(
    (text: string) => previewQueries.send(target, scene, text),
    ["events", "approvals"],
    () => setText(""),
  );
  const conversationId = past.data?.conversation_id ?? null;
  const change = (changed: previewQueries.Scene) => {
    sending.reset();
    setScene(changed);
  };
  return (
    <Card
      title={t("previews.title")}
      actions={
        conversationId && (
          <DeleteButton
            label={t("previews.forget")}
            title={t("previews.forgetTitle")}
            text={t("previews.forgetText")}
            remove={() => previewQueries.forget(conversationId)}
            stale={["events"]}
            after={() => sending.reset()}
          />
        )
      }
    >
      <div className="space-y-4">
        <p className="text-sm text-quiet">{t("previews.text")}</p>
        {unsaved && (
          <p role="status" className="rounded-control bg-warn-wash px-3 py-1.5 text-sm text-warn">
            {t("previews.unsaved")}
          </p>
        )}
        <SceneFields scene={scene} onChange={change} />
        <div role="log" aria-label={t("previews.history")} tabIndex={0} className="max-h-96 space-y-3 overflow-y-auto">
          {past.data?.items.map((item) => (
            <Item key={item.transcript_id} item={item} />
          ))}
          {past.data?.items.length === 0 && <p className="text-sm text-quiet">{t("previews.empty")}</p>}
        </div>
        <ErrorMessage error={past.error ?? sending.error} />
        {sending.data && <Outcome result={sending.data} />}
        <Questions conversationId={conversationId} />
        <form
          className="space-y-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim()) sending.mutate(text);
          }}
        >
          <TextArea
            aria-label={t("previews.message")}
            placeholder={t("previews.message")}
            rows={2}
            maxLength={100_000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" weight="primary" busy={sending.isPending} disabled={!text.trim()}>
            {t("chat.send")}
          </Button>
        </form>
      </div>
    </Card>
  );
}

function Item({ item }: { item: TranscriptItem }) {
  const { t } = useTranslation();
  if (item.item_type === "notice") return <p className="text-sm text-quiet">{item.content}</p>;
  if (item.role === "user") {
    return (
      <article
        aria-label={t("chat.you")}
        className="ml-auto w-fit max-w-[85%] rounded-2xl rounded-br-md bg-accent-wash px-4 py-2.5 wrap-anywhere whitespace-pre-wrap"
      >
        {item.content}
      </article>
    );
  }
  return (
    <article aria-label={t("chat.agent")}>
      <Markdown text={item.content} />
      {item.run_id && (
        <Link
          to="/runs/$runId"
          params={{ runId: item.run_id }}
          className="text-sm text-accent underline underline-offset-2"
        >
          {t("chat.openRun")}
        </Link>
      )}
    </article>
  );
}

/** What became of the last message. Answers that belong to no run are shown here only. */
function Outcome({ result }: { result: EventResult }) {
  const { t } = useTranslation();
  return (
    <div role="status" className="space-y-2 text-sm">
      {result.run === null && (
        <>
          <p className="font-medium">{t("previews.unanswered")}</p>
          {result.messages.map((message, number) => (
            <p key={number} className="wrap-anywhere whitespace-pre-wrap">
              {String(message["content"] ?? "")}
            </p>
          ))}
          {result.reason && <p className="wrap-anywhere text-quiet">{result.reason}</p>}
        </>
      )}
      <Collapsible title={t("runs.why")}>
        <Why name={result.event_id} />
      </Collapsible>
    </div>
  );
}

/** Calls of tools that wait for a decision. */
function Questions({ conversationId }: { conversationId: string | null }) {
  const pending = useQuery(approvalQueries.approvals).data ?? [];
  const own = pending.filter((approval) => approval.conversation_id === conversationId);
  if (own.length === 0) return null;
  return (
    <ul className="space-y-3">
      {own.map((approval) => (
        <ApprovalCard key={approval.approval_id} approval={approval} />
      ))}
    </ul>
  );
}
