// All runs, newest first. The filters are in the address, so that a view can be shared.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ListTree } from "lucide-react";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";

import { Button, buttonClasses } from "../../components/Button";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { formatNumber } from "../../lib/format";
import { usePageTitle } from "../../lib/usePageTitle";
import * as agentQueries from "../agents/queries";
import * as botQueries from "../bots/queries";
import { RunFilters } from "./RunFilters";
import { RunList } from "./RunList";
import { filterOf, isFiltered, type RunSearch } from "./search";
import { useRuns } from "./useRuns";

export default function RunsPage() {
  const { t, i18n } = useTranslation();
  const search = useSearch({ from: "/authenticated/runs" });
  const navigate = useNavigate({ from: "/runs" });
  const filter = useMemo(() => filterOf(search, Date.now()), [search]);
  const runs = useRuns(filter);
  const names = useNames();
  usePageTitle(t("nav.runs"));
  const update = (change: RunSearch) =>
    void navigate({ search: (previous) => ({ ...previous, ...change }), replace: true });
  const clear = () => void navigate({ search: {} });
  const amount = runs.rows.length;
  return (
    <div className="mx-auto flex h-full w-full max-w-7xl flex-col px-4 pt-6 sm:px-8 sm:pt-8">
      <header className="mb-4 flex flex-wrap items-end gap-x-3">
        <div className="min-w-0 flex-1 basis-72">
          <h1 className="text-2xl font-semibold tracking-tight">{t("nav.runs")}</h1>
          <p className="mt-1 text-quiet">{t("runs.text")}</p>
        </div>
        {amount > 0 && (
          <p role="status" className="ml-auto text-sm text-quiet tabular-nums">
            {t(runs.isWhole ? "runs.amount" : "runs.amountSoFar", {
              count: amount,
              shown: formatNumber(amount, i18n.language),
            })}
          </p>
        )}
      </header>
      <RunFilters
        search={search}
        sender={runs.rows.find((run) => run.actor_name)?.actor_name ?? undefined}
        put={update}
        clear={clear}
      />
      <ErrorMessage error={runs.error} />
      {runs.isPending && <Loading />}
      {!runs.isPending && !runs.error && amount === 0 && <Nothing filtered={isFiltered(search)} clear={clear} />}
      {amount > 0 && <RunList key={JSON.stringify(filter)} rows={runs.rows} names={names} atEnd={runs.more} />}
    </div>
  );
}

function useNames(): Map<string, string> {
  const agents = useQuery(agentQueries.agents).data;
  const bots = useQuery(botQueries.bots).data;
  return useMemo(
    () =>
      new Map([
        ...(agents ?? []).map((each) => [each.agent_id, each.name] as const),
        ...(bots ?? []).map((each) => [each.bot_id, each.name] as const),
      ]),
    [agents, bots],
  );
}

function Nothing({ filtered, clear }: { filtered: boolean; clear: () => void }) {
  const { t } = useTranslation();
  if (filtered) {
    return (
      <Empty icon={<ListTree />} title={t("runs.noneSo")} text={t("runs.noneSoText")}>
        <Button onClick={clear}>{t("runs.clear")}</Button>
      </Empty>
    );
  }
  return (
    <Empty icon={<ListTree />} title={t("runs.empty")} text={t("runs.emptyText")}>
      <Link to="/chat" className={buttonClasses("primary")}>
        {t("welcome.chatAction")}
      </Link>
    </Empty>
  );
}
