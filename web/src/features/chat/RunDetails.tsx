// The details of an answer, collapsed: usage, reasoning, tool calls, and a link to the run.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { Run } from "../../api/types";
import { Collapsible } from "../../components/Collapsible";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { formatDuration, formatNumber } from "../../lib/format";
import * as runQueries from "../runs/queries";
import { timeline } from "../runs/timelineModel";
import { Reasoning } from "./MessageList";
import { ToolCalls } from "./ToolCalls";

export function RunDetails({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const { usage } = run;
  const tokens = (usage.prompt_tokens ?? 0) + (usage.completion_tokens ?? 0);
  const parts = [
    usage.tool_calls ? t("chat.tools", { count: usage.tool_calls }) : "",
    tokens ? t("runs.tokenCount", { count: tokens, shown: formatNumber(tokens, i18n.language) }) : "",
    run.started_at && run.finished_at ? formatDuration(run.finished_at - run.started_at) : "",
  ];
  return (
    <Collapsible title={<span className="text-xs tabular-nums">{parts.filter(Boolean).join(" · ")}</span>}>
      <RunEvents runId={run.run_id} error={run.error} />
    </Collapsible>
  );
}

/** `error` is the full reason of a failed run; the notice above only has its kind. */
function RunEvents({ runId, error }: { runId: string; error: string | null }) {
  const { t } = useTranslation();
  const events = useQuery(runQueries.runEvents(runId));
  if (events.error) return <ErrorMessage error={events.error} />;
  if (!events.data) return <Loading />;
  const steps = timeline(events.data);
  const calls = steps.filter((step) => step.kind === "tool");
  return (
    <div className="ml-2 space-y-1 border-l border-line pl-4">
      {error && <p className="text-sm break-words whitespace-pre-wrap text-bad">{error}</p>}
      {steps.map((step) => step.thinking && <Reasoning key={step.key} text={step.thinking} />)}
      <ToolCalls
        calls={calls.map((call) => ({
          id: call.key,
          name: call.name,
          status: call.state ?? (call.failed ? "failed" : "completed"),
        }))}
      />
      <Link to="/runs/$runId" params={{ runId }} className="text-sm text-accent underline underline-offset-2">
        {t("chat.openRun")}
      </Link>
    </div>
  );
}
