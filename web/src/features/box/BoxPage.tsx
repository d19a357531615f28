// The Box: whether it works and what holds, a test, its sandboxes, and recent failures.
import { useMutation, useQuery } from "@tanstack/react-query";
import { Container } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { DeleteButton } from "../../components/DeleteButton";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Badge, Card, PageBody } from "../../components/Layout";
import { Row, Rows } from "../../components/List";
import { formatTime } from "../../lib/format";
import * as boxQueries from "./queries";
import { SessionDetails } from "./SessionDetails";

export default function BoxPage() {
  const { t } = useTranslation();
  const { operate } = useRights();
  return (
    <PageBody title={t("nav.box")} text={t("box.text")}>
      <div className="space-y-8">
        <StatusCard />
        {operate && <Sessions />}
        {operate && <Failures />}
      </div>
    </PageBody>
  );
}

const TONES = { ready: "good", disabled: "calm", connecting: "accent", unavailable: "bad" } as const;

function StatusCard() {
  const { t } = useTranslation();
  const { operate } = useRights();
  const status = useQuery(boxQueries.status);
  const test = useMutation({ mutationFn: () => answer(api.POST("/api/v1/box/test")) });
  const facts = status.data;
  return (
    <Card
      title={t("box.status")}
      actions={facts && <Badge tone={TONES[facts.status]}>{t(`boxStatus.${facts.status}`)}</Badge>}
    >
      <ErrorMessage error={status.error} />
      {!facts && !status.error && <Loading />}
      {facts && (
        <div className="space-y-4">
          {facts.reason && (
            <p className="text-sm">
              {facts.reason}
              {facts.remedy && `; ${facts.remedy}`}
            </p>
          )}
          {facts.command && (
            <pre className="overflow-x-auto rounded-control bg-raised p-3 text-sm">{facts.command}</pre>
          )}
          {facts.status === "ready" && (
            <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1.5 text-sm">
              <Fact name={t("box.backend")} value={facts.backend && t(`boxBackend.${facts.backend}`)} />
              <Fact name={t("box.limits")} value={facts.limits && t(`boxLimits.${facts.limits}`)} />
              <Fact name={t("box.quota")} value={facts.quota && t(`boxQuota.${facts.quota}`)} />
              <Fact name={t("box.sessions")} value={`${facts.sessions} / ${facts.max_sessions}`} />
              <Fact name={t("box.template")} value={facts.force_template} />
              <Fact name={t("box.notice")} value={facts.notice} />
            </dl>
          )}
          {facts.status !== "disabled" && facts.refused.length > 0 && (
            <section aria-label={t("box.refused")}>
              <h3 className="mb-1.5 text-sm text-quiet">{t("box.refused")}</h3>
              <ul className="space-y-1.5 text-sm">
                {facts.refused.map((refused) => (
                  <li key={refused.backend} className="wrap-anywhere">
                    <span className="mr-2 font-medium">{t(`boxBackend.${refused.backend}`)}</span>
                    <Badge tone={refused.problem === "not_installed" ? "calm" : "warn"}>
                      {t(`boxProblem.${refused.problem}`)}
                    </Badge>
                    {refused.problem !== "not_installed" && <p className="mt-1 text-quiet">{refused.reason}</p>}
                    {refused.command && <code className="mt-1 block text-quiet">{refused.command}</code>}
                  </li>
                ))}
              </ul>
            </section>
          )}
          {operate && facts.status === "ready" && (
            <Button busy={test.isPending} onClick={() => test.mutate()}>
              {t("box.test")}
            </Button>
          )}
          <ErrorMessage error={test.error} />
          {test.data && (
            <ul aria-label={t("box.testResults")} className="space-y-1.5 text-sm">
              {test.data.checks.map((check) => (
                <li key={check.name} className="flex flex-wrap items-center gap-2">
                  <Badge tone={check.ok ? "good" : "bad"}>{t(check.ok ? "box.holds" : "box.fails")}</Badge>
                  <span>{t(`boxCheck.${check.name}`)}</span>
                  {!check.ok && <span className="text-quiet wrap-anywhere">{check.detail}</span>}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </Card>
  );
}

function Fact({ name, value }: { name: string; value: string | null | undefined }) {
  if (!value) return null;
  return (
    <>
      <dt className="text-quiet">{name}</dt>
      <dd className="wrap-anywhere">{value}</dd>
    </>
  );
}

function Sessions() {
  const { t, i18n } = useTranslation();
  const sessions = useQuery(boxQueries.sessions);
  const [shown, setShown] = useState("");
  return (
    <section aria-label={t("box.sessions")}>
      <h2 className="mb-3 text-sm font-medium text-quiet">{t("box.sessions")}</h2>
      <ErrorMessage error={sessions.error} />
      {sessions.data?.length === 0 && (
        <Empty icon={<Container />} title={t("box.noSessions")} text={t("box.noSessionsText")} />
      )}
      {!!sessions.data?.length && (
        <Rows>
          {sessions.data.map((session) => (
            <Row
              key={session.session_id}
              title={session.title}
              text={
                <>
                  {t("box.sessionText", {
                    commands: session.execs,
                    used: formatTime(session.last_used_at, i18n.language),
                    memory: session.memory_mb,
                  })}
                  {shown === session.session_id && (
                    <div className="mt-3 text-ink">
                      <SessionDetails session={session} />
                    </div>
                  )}
                </>
              }
              marks={
                <>
                  {session.busy && <Badge tone="accent">{t("box.busy")}</Badge>}
                  {session.network && <Badge tone="warn">{t("box.network")}</Badge>}
                  {session.read_only && <Badge>{t("box.readOnly")}</Badge>}
                </>
              }
              actions={
                <>
                  <Button
                    aria-expanded={shown === session.session_id}
                    onClick={() => setShown(shown === session.session_id ? "" : session.session_id)}
                  >
                    {t("box.inside")}
                  </Button>
                  <DeleteButton
                    icon
                    label={t("box.end")}
                    title={t("box.endTitle")}
                    text={t("box.endText")}
                    action={t("box.end")}
                    remove={() =>
                      answer(
                        api.DELETE("/api/v1/box/sessions/{session_id}", {
                          params: { path: { session_id: session.session_id } },
                        }),
                      )
                    }
                    stale={["box"]}
                  />
                </>
              }
            />
          ))}
        </Rows>
      )}
    </section>
  );
}

function Failures() {
  const { t, i18n } = useTranslation();
  const failures = useQuery(boxQueries.failures);
  if (!failures.data?.length) return <ErrorMessage error={failures.error} />;
  return (
    <section aria-label={t("box.errors")}>
      <h2 className="mb-3 text-sm font-medium text-quiet">{t("box.errors")}</h2>
      <Rows>
        {failures.data.map((failure, index) => (
          <Row key={index} title={failure.message} text={formatTime(failure.at, i18n.language)} />
        ))}
      </Rows>
    </section>
  );
}
