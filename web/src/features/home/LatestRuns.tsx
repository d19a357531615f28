// The latest runs, with a link to all of them.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Card, State } from "../../components/Layout";
import { formatTime } from "../../lib/format";
import * as runQueries from "../runs/queries";

const SHOWN = 6;

export function LatestRuns() {
  const { t, i18n } = useTranslation();
  const runs = useQuery(runQueries.newestRuns({})).data?.items.slice(0, SHOWN) ?? [];
  return (
    <Card
      title={t("home.latest")}
      actions={
        <Link to="/runs" className="text-sm text-accent underline underline-offset-2">
          {t("home.allRuns")}
        </Link>
      }
    >
      {runs.length === 0 && <p className="text-sm text-quiet">{t("runs.emptyText")}</p>}
      <ul>
        {runs.map((run) => (
          <li key={run.run_id}>
            <Link
              to="/runs/$runId"
              params={{ runId: run.run_id }}
              className="-mx-2 flex items-center gap-3 rounded-control px-2 py-2 hover:bg-raised"
            >
              <span className="min-w-0 flex-1">
                <span className="block truncate text-sm font-medium">
                  {run.input_summary || run.agent_name || run.runner_id}
                </span>
                <span className="block truncate text-xs text-quiet tabular-nums">
                  {[run.input_summary && run.agent_name, formatTime(run.created_at, i18n.language)]
                    .filter(Boolean)
                    .join(" · ")}
                </span>
              </span>
              <State state={run.status} />
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}
