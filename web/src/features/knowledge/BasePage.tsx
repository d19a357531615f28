// One knowledge base: its files, a test of its search, and its settings.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { isGone } from "../../api/problem";
import { NotFoundPage } from "../../app/ErrorPages";
import { useRights } from "../../app/session";
import { DeleteButton } from "../../components/DeleteButton";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Badge, PageBody } from "../../components/Layout";
import { Tabs } from "../../components/Tabs";
import { BaseSettings } from "./BaseSettings";
import { FileList } from "./FileList";
import * as knowledgeQueries from "./queries";
import { SearchTest } from "./SearchTest";

export default function BasePage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const navigate = useNavigate();
  const { kbId } = useParams({ from: "/authenticated/knowledge/$kbId" });
  const base = useQuery(knowledgeQueries.base(kbId));
  const engines = useQuery(knowledgeQueries.engines);
  if (isGone(base.error)) return <NotFoundPage />;
  if (!base.data) return <div className="p-8">{base.error ? <ErrorMessage error={base.error} /> : <Loading />}</div>;
  const current = base.data.value;
  const takesFiles = engines.data?.find((each) => each.engine === current.engine)?.files !== "none";
  const path = { params: { path: { kb_id: kbId } } };
  return (
    <PageBody
      title={`${current.emoji} ${current.name}`.trim()}
      text={current.description}
      actions={
        edit && (
          <DeleteButton
            label={t("knowledge.delete")}
            title={t("knowledge.deleteTitle", { name: current.name })}
            text={t("knowledge.deleteText")}
            remove={() => answer(api.DELETE("/api/v1/knowledge-bases/{kb_id}", path))}
            stale={["knowledge"]}
            after={() => void navigate({ to: "/knowledge" })}
          />
        )
      }
    >
      {current.problem && <ErrorMessage error={new Error(current.problem)} />}
      <div className="mb-5 flex flex-wrap gap-2">
        {current.status !== "ready" && <Badge tone="warn">{t(`knowledge.status.${current.status}`)}</Badge>}
        <Badge>{t("knowledge.files", { count: current.files })}</Badge>
        <Badge>{t("knowledge.passages", { count: current.chunks })}</Badge>
        <Badge tone={current.used_by.length ? "accent" : "calm"}>
          {current.used_by.length
            ? t("knowledge.usedBy", { names: current.used_by.join(", ") })
            : t("knowledge.unused")}
        </Badge>
      </div>
      <Tabs
        tabs={[
          {
            id: "files",
            label: t("knowledge.filesTab"),
            content: <FileList key={kbId} kbId={kbId} edit={edit} takesFiles={takesFiles} />,
          },
          { id: "test", label: t("knowledge.test"), content: <SearchTest key={kbId} base={current} /> },
          {
            id: "settings",
            label: t("nav.settings"),
            content: <BaseSettings key={kbId} opened={base.data} edit={edit} />,
          },
        ]}
      />
    </PageBody>
  );
}
