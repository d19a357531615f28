// Workers on other machines: who is there, and which runs wait for one or are held by one.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListTree, Server } from "lucide-react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { QueuedRun, Worker } from "../../api/types";
import { useRights } from "../../app/session";
import { DeleteButton } from "../../components/DeleteButton";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Badge, PageBody, State } from "../../components/Layout";
import { Row, Rows } from "../../components/List";
import { formatTime } from "../../lib/format";
import * as workerQueries from "./queries";

export default function WorkersPage() {
  const { t } = useTranslation();
  return (
    <PageBody title={t("nav.workers")} text={t("workers.text")}>
      <div className="space-y-8">
        <WorkerList />
        <Queue />
      </div>
    </PageBody>
  );
}

function WorkerList() {
  const { t } = useTranslation();
  const workers = useQuery(workerQueries.workers);
  return (
    <section aria-label={t("nav.workers")}>
      <ErrorMessage error={workers.error} />
      {!workers.data && !workers.error && <Loading />}
      {workers.data?.length === 0 && <Empty icon={<Server />} title={t("workers.none")} text={t("workers.noneText")} />}
      {!!workers.data?.length && (
        <Rows>
          {workers.data.map((worker) => (
            <WorkerRow key={worker.runtime_id} worker={worker} />
          ))}
        </Rows>
      )}
    </section>
  );
}

export function WorkerRow({ worker }: { worker: Worker }) {
  const { t, i18n } = useTranslation();
  const { operate } = useRights();
  const active = worker.status === "active";
  return (
    <Row
      title={worker.runtime_id}
      text={
        <>
          {t("workers.seen", { time: formatTime(worker.last_seen_at, i18n.language) })}
          {active && ` · ${t("workers.slots", { used: worker.used_slots, slots: worker.slots })}`}
          {worker.plugin_id && ` · ${worker.plugin_id}`}
        </>
      }
      marks={
        <>
          {worker.labels.map((label) => (
            <Badge key={label}>{label}</Badge>
          ))}
          <Badge tone={active ? "good" : "calm"}>{t(active ? "workers.active" : "workers.gone")}</Badge>
        </>
      }
      actions={
        operate &&
        active && (
          <DeleteButton
            icon
            label={t("workers.revoke")}
            title={t("workers.revokeTitle", { name: worker.runtime_id })}
            text={t("workers.revokeText")}
            action={t("workers.revoke")}
            remove={() =>
              answer(
                api.POST("/api/v1/runtimes/{runtime_id}/revoke", {
                  params: { path: { runtime_id: worker.runtime_id } },
                }),
              )
            }
            stale={["workers"]}
          />
        )
      }
    />
  );
}

function Queue() {
  const { t } = useTranslation();
  const queue = useQuery(workerQueries.queue);
  const runs = queue.data?.items;
  return (
    <section aria-label={t("workers.queue")}>
      <h2 className="mb-3 text-sm font-medium text-quiet">{t("workers.queue")}</h2>
      <ErrorMessage error={queue.error} />
      {runs?.length === 0 && <Empty icon={<ListTree />} title={t("workers.noRuns")} text={t("workers.noRunsText")} />}
      {!!runs?.length && (
        <Rows>
          {runs.map((run) => (
            <QueuedRunRow key={run.run_id} run={run} />
          ))}
        </Rows>
      )}
      {queue.data?.next_cursor && <p className="mt-3 text-sm text-quiet">{t("workers.more")}</p>}
    </section>
  );
}

export function QueuedRunRow({ run }: { run: QueuedRun }) {
  const { t } = useTranslation();
  const stuck = run.status === "queued" && run.candidates === 0;
  return (
    <Row
      title={
        <Link to="/runs/$runId" params={{ runId: run.run_id }} className="hover:underline">
          {run.run_id}
        </Link>
      }
      text={
        <>
          {run.runner_id}
          {run.runtime_id && ` · ${t("workers.heldBy", { name: run.runtime_id })}`}
        </>
      }
      marks={
        <>
          {run.labels.map((label) => (
            <Badge key={label}>{label}</Badge>
          ))}
          {stuck && <Badge tone="warn">{t("workers.noCandidate")}</Badge>}
          <State state={run.status} />
        </>
      }
    />
  );
}
