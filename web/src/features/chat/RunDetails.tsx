// What lies behind an answer, folded: what it took, what was thought and which tools were called, and the way to its run.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { Run } from "../../api/types";
import * as queries from "../../api/queries";
import { Fold } from "../../components/Collapsible";
import { ErrorNote, Loading } from "../../components/Feedback";
import { figure, span } from "../../lib/format";
import { timeline } from "../runs/timelineModel";
import { Tools } from "./ToolCalls";
import { Thoughts } from "./MessageList";

export function Behind({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const { usage } = run;
  const tokens = (usage.prompt_tokens ?? 0) + (usage.completion_tokens ?? 0);
  const parts = [
    usage.tool_calls ? t("chat.tools", { count: usage.tool_calls }) : "",
    tokens ? t("runs.tokenCount", { count: tokens, shown: figure(tokens, i18n.language) }) : "",
    run.started_at && run.finished_at ? span(run.finished_at - run.started_at) : "",
  ];
  return (
    <Fold title={<span className="text-xs tabular-nums">{parts.filter(Boolean).join(" · ")}</span>}>
      <Detail runId={run.run_id} error={run.error} />
    </Fold>
  );
}

/** `error` is the whole reason of a run that failed; the notice above says only its kind. */
function Detail({ runId, error }: { runId: string; error: string | null }) {
  const { t } = useTranslation();
  const events = useQuery(queries.runEvents(runId));
  if (events.error) return <ErrorNote error={events.error} />;
  if (!events.data) return <Loading />;
  const steps = timeline(events.data);
  const calls = steps.filter((step) => step.kind === "tool");
  return (
    <div className="ml-2 space-y-1 border-l border-line pl-4">
      {error && <p className="text-sm break-words whitespace-pre-wrap text-bad">{error}</p>}
      {steps.map((step) => step.thinking && <Thoughts key={step.key} text={step.thinking} />)}
      <Tools
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
