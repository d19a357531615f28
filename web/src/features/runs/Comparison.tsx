// A rerun beside the run that it repeats.
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { RunSide } from "../../api/facts";
import { Markdown } from "../../components/Markdown";
import { State } from "../../components/Surfaces";
import { cost, figure, short, span } from "../../lib/text";

export function Comparison({ original, rerun }: { original: RunSide; rerun: RunSide }) {
  const { t } = useTranslation();
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Side title={t("runs.original")} side={original} />
      <Side title={t("runs.again")} side={rerun} />
    </div>
  );
}

function Side({ title, side }: { title: string; side: RunSide }) {
  const { t, i18n } = useTranslation();
  const tokens = (side.usage.prompt_tokens ?? 0) + (side.usage.completion_tokens ?? 0);
  return (
    <section className="rounded-card border border-line bg-surface p-4">
      <h3 className="flex flex-wrap items-center gap-2 font-medium">
        {title} <State state={side.status} />
        <Link to="/runs/$runId" params={{ runId: side.run_id }} className="ml-auto text-sm text-accent underline">{short(side.run_id)}</Link>
      </h3>
      <p className="mt-1 flex flex-wrap gap-x-3 text-sm text-quiet tabular-nums">
        <span>{side.started_at && side.finished_at ? span(side.finished_at - side.started_at) : "–"}</span>
        <span>{t("runs.tokenCount", { count: tokens, shown: figure(tokens, i18n.language) })}</span>
        <span>{t("runs.cost", { cost: cost(side.usage.cost_micros ?? 0) })}</span>
      </p>
      <div className="mt-3 space-y-3">{side.texts.map((text, index) => <Markdown key={index} text={text} />)}</div>
    </section>
  );
}
