// All runs, newest first. Only the rows in view exist, so that ten thousand scroll as ten do.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ListTree } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import type { Run } from "../../api/facts";
import * as queries from "../../api/queries";
import { buttonClasses } from "../../components/Button";
import { Select } from "../../components/Field";
import { Empty, ErrorNote, Loading } from "../../components/Notes";
import { PageBody, State } from "../../components/Surfaces";
import { figure, moment, short, span } from "../../lib/text";

const STATUSES = ["queued", "running", "waiting_approval", "completed", "failed", "cancelled", "timeout"];
const ROW = 57;

export default function RunsPage() {
  const { t } = useTranslation();
  const [filter, setFilter] = useState<queries.RunFilter>({});
  const agents = useQuery(queries.agents).data ?? [];
  const bots = useQuery(queries.bots).data ?? [];
  const runs = useInfiniteQuery(queries.runs(filter));
  const rows = runs.data?.pages.flatMap((page) => page.items) ?? [];
  const put = (name: keyof queries.RunFilter) => (event: React.ChangeEvent<HTMLSelectElement>) =>
    setFilter({ ...filter, [name]: event.target.value || undefined });
  const filtered = Object.values(filter).some(Boolean);
  return (
    <PageBody wide title={t("nav.runs")} text={t("runs.text")}>
      <div className="mb-4 flex flex-wrap gap-2">
        <Select aria-label={t("runs.status")} fits value={filter.status ?? ""} onChange={put("status")}>
          <option value="">{t("runs.anyStatus")}</option>
          {STATUSES.map((status) => <option key={status} value={status}>{t(`state.${status}`)}</option>)}
        </Select>
        <Select aria-label={t("runs.agent")} fits className="max-w-60" value={filter.agent_id ?? ""} onChange={put("agent_id")}>
          <option value="">{t("runs.anyAgent")}</option>
          {agents.map((agent) => <option key={agent.agent_id} value={agent.agent_id}>{agent.name}</option>)}
        </Select>
        <Select aria-label={t("runs.bot")} fits className="max-w-60" value={filter.bot_id ?? ""} onChange={put("bot_id")}>
          <option value="">{t("runs.anyBot")}</option>
          {bots.map((bot) => <option key={bot.bot_id} value={bot.bot_id}>{bot.name}</option>)}
        </Select>
      </div>
      <ErrorNote error={runs.error} />
      {runs.isPending && <Loading />}
      {runs.isSuccess && rows.length === 0 && (
        <Empty icon={<ListTree />} title={t(filtered ? "runs.noneSo" : "runs.empty")} text={t(filtered ? "runs.noneSoText" : "runs.emptyText")}>
          {!filtered && <Link to="/chat" className={buttonClasses("primary")}>{t("welcome.chatAction")}</Link>}
        </Empty>
      )}
      {rows.length > 0 && (
        <Grid
          rows={rows}
          names={new Map([...agents.map((each) => [each.agent_id, each.name] as const), ...bots.map((each) => [each.bot_id, each.name] as const)])}
          atEnd={() => runs.hasNextPage && !runs.isFetchingNextPage && void runs.fetchNextPage()}
        />
      )}
    </PageBody>
  );
}

function Grid({ rows, names, atEnd }: { rows: Run[]; names: Map<string, string>; atEnd: () => void }) {
  const { t } = useTranslation();
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => ROW, overscan: 10 });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - 20) atEnd();
  }, [last, rows.length, atEnd]);
  return (
    <div ref={box} tabIndex={0} aria-label={t("nav.runs")} role="region" className="max-h-[calc(100dvh-15rem)] min-h-60 overflow-y-auto rounded-card border border-line bg-surface shadow-card">
      <ul style={{ height: virtual.getTotalSize() }} className="relative">
        {shown.map(({ index, start }) => {
          const run = rows[index];
          return run && <RunRow key={run.run_id} run={run} names={names} start={start} />;
        })}
      </ul>
    </div>
  );
}

function RunRow({ run, names, start }: { run: Run; names: Map<string, string>; start: number }) {
  const { t, i18n } = useTranslation();
  const tokens = (run.usage.prompt_tokens ?? 0) + (run.usage.completion_tokens ?? 0);
  return (
    <li className="absolute inset-x-0 border-b border-line" style={{ transform: `translateY(${start}px)`, height: ROW }}>
      <Link to="/runs/$runId" params={{ runId: run.run_id }} preload={false} className="flex h-full items-center gap-3 px-4 -outline-offset-2 sm:gap-4 sm:px-5 hover:bg-raised">
        <span className="shrink-0 sm:w-32"><State state={run.status} /></span>
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{names.get(run.agent_id ?? "") ?? run.runner_id}</span>
          <span className="block truncate text-xs text-quiet">
            {run.bot_id ? names.get(run.bot_id) ?? run.bot_id : t("runs.direct")} · {short(run.run_id)}
          </span>
        </span>
        <span className="w-24 text-right text-sm text-quiet tabular-nums max-sm:hidden">{tokens > 0 && t("runs.tokenCount", { count: tokens, shown: figure(tokens, i18n.language) })}</span>
        <span className="w-16 text-right text-sm text-quiet tabular-nums max-sm:hidden">{run.started_at && run.finished_at ? span(run.finished_at - run.started_at) : ""}</span>
        <time className="shrink-0 text-right text-sm sm:w-28 text-quiet tabular-nums">{moment(run.created_at, i18n.language)}</time>
      </Link>
    </li>
  );
}
