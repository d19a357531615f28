// The Hosts that share the database: how each is doing, what it owns, and how its work is given to the others.
import { useQuery } from "@tanstack/react-query";
import { Network } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { ClusterHost } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Badge, PageBody } from "../../components/Layout";
import { Row, Rows } from "../../components/List";
import { formatTime } from "../../lib/format";
import { useSave } from "../../lib/useSave";
import { PartList } from "./PartList";
import * as hostQueries from "./queries";

const TONES = {
  healthy: "good",
  unreachable: "warn",
  late: "bad",
  draining: "accent",
  drained: "calm",
  ended: "calm",
} as const;

export default function HostsPage() {
  const { t } = useTranslation();
  const hosts = useQuery(hostQueries.hosts);
  const live = hosts.data?.filter((host) => host.state !== "fenced") ?? [];
  return (
    <PageBody title={t("nav.hosts")} text={t("hosts.text")}>
      <div className="space-y-8">
        <section aria-label={t("nav.hosts")}>
          <ErrorMessage error={hosts.error} />
          {!hosts.data && !hosts.error && <Loading />}
          {hosts.data?.length === 0 && (
            <Empty icon={<Network />} title={t("hosts.alone")} text={t("hosts.aloneText")} />
          )}
          {!!hosts.data?.length && (
            <Rows>
              {hosts.data.map((host) => (
                <HostRow key={host.host_id} host={host} others={live.length - 1} />
              ))}
            </Rows>
          )}
        </section>
        {!!hosts.data?.length && <PartList live={live} />}
      </div>
    </PageBody>
  );
}

function HostRow({ host, others }: { host: ClusterHost; others: number }) {
  const { t, i18n } = useTranslation();
  const { edit } = useRights();
  return (
    <Row
      title={host.name}
      text={
        <>
          <p>{t(`hosts.healthText.${host.health}`)}</p>
          <p>
            {host.state !== "fenced" && `${owned(host, t)} · `}
            {t("hosts.version", { version: host.version })}
            {` · ${t("hosts.since", { time: formatTime(host.started_at, i18n.language) })}`}
            {host.fenced_at !== null && ` · ${t("hosts.until", { time: formatTime(host.fenced_at, i18n.language) })}`}
            {host.address && ` · ${host.address}`}
          </p>
        </>
      }
      marks={
        <>
          {host.answers_this && <Badge>{t("hosts.answers")}</Badge>}
          <Badge tone={TONES[host.health]}>{t(`hosts.health.${host.health}`)}</Badge>
        </>
      }
      actions={edit && host.state !== "fenced" && <DrainButton host={host} isAlone={others === 0} />}
    />
  );
}

/** What a Host owns in words: "2 bots, 32 shares of the chats, 1 duty". */
function owned(host: ClusterHost, t: (key: string, values?: Record<string, unknown>) => string): string {
  const counts = [
    ["bot:", "hosts.bots"],
    ["shard:", "hosts.shards"],
    ["duty:", "hosts.duties"],
  ].map(([kind, text]) => ({ text, count: host.parts.filter((part) => part.startsWith(kind as string)).length }));
  const words = counts.filter(({ count }) => count > 0).map(({ text, count }) => t(text as string, { count }));
  return words.length ? words.join(", ") : t("hosts.nothing");
}

function DrainButton({ host, isAlone }: { host: ClusterHost; isAlone: boolean }) {
  const { t } = useTranslation();
  const [asking, setAsking] = useState(false);
  const path = { params: { path: { host_id: host.host_id } } };
  const draining = useSave(
    () => answer(api.POST("/api/v1/hosts/{host_id}/drain", path)),
    ["hosts"],
    () => setAsking(false),
  );
  const resuming = useSave(() => answer(api.POST("/api/v1/hosts/{host_id}/resume", path)), ["hosts"]);
  if (host.state === "draining")
    return (
      <>
        <ErrorMessage error={resuming.error} />
        <Button small busy={resuming.isPending} onClick={() => resuming.mutate(undefined)}>
          {t("hosts.resume")}
        </Button>
      </>
    );
  return (
    <>
      <Button small onClick={() => setAsking(true)}>
        {t("hosts.drain")}
      </Button>
      <Confirm
        open={asking}
        title={t("hosts.drainTitle", { name: host.name })}
        text={t(isAlone ? "hosts.drainAlone" : "hosts.drainText")}
        action={t("hosts.drain")}
        busy={draining.isPending}
        error={draining.error}
        onConfirm={() => draining.mutate(undefined)}
        onClose={() => {
          setAsking(false);
          draining.reset();
        }}
      />
    </>
  );
}
