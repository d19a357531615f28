// The steps of a run, one under the other.
import {
  Ban, CircleCheck, CircleX, Cpu, Database, FileText, type LucideIcon, MessageSquare, ShieldQuestion, Waypoints, Wrench,
} from "lucide-react";
import { useTranslation } from "react-i18next";

import { Fold } from "../../components/Fold";
import { Markdown } from "../../components/Markdown";
import { Code } from "../../components/Surfaces";
import { classes } from "../../lib/classes";
import { cost, figure, moment, span } from "../../lib/text";
import type { Step, StepKind } from "./timeline";

const ICONS: Record<StepKind, LucideIcon> = {
  model: Cpu, tool: Wrench, message: MessageSquare, state: Database, artifact: FileText, action: ShieldQuestion,
  denial: Ban, end: CircleCheck, failure: CircleX, other: Waypoints,
};

/** `names` are those of models, which the ledger knows by their ids. */
export function Timeline({ steps, names }: { steps: Step[]; names: Map<string, string> }) {
  return (
    <ol className="relative space-y-5 before:absolute before:top-2 before:bottom-2 before:left-[0.95rem] before:w-px before:bg-line">
      {steps.map((step) => <StepItem key={step.key} step={step} name={names.get(step.name) ?? step.name} />)}
    </ol>
  );
}

function StepItem({ step, name }: { step: Step; name: string }) {
  const { t, i18n } = useTranslation();
  const Icon = ICONS[step.kind];
  return (
    <li className="relative flex gap-4">
      <span className={classes("z-1 grid size-8 shrink-0 place-items-center rounded-full border border-line", step.failed ? "bg-bad-wash text-bad" : "bg-surface text-quiet")}>
        <Icon aria-hidden className="size-4" />
      </span>
      <div className="min-w-0 flex-1 pt-1">
        <div className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
          <span className="font-medium">{t(`step.${step.kind}`)}</span>
          {name && <span className="font-mono text-sm break-all">{name}</span>}
          <span className="ml-auto text-xs text-quiet tabular-nums">{moment(step.at, i18n.language)}</span>
        </div>
        <p className="flex flex-wrap gap-x-3 text-sm text-quiet tabular-nums">
          {step.milliseconds !== undefined && <span>{span(step.milliseconds)}</span>}
          {step.usage && (
            <span>
              {t("runs.tokens", {
                in: figure(step.usage.prompt_tokens ?? 0, i18n.language),
                out: figure(step.usage.completion_tokens ?? 0, i18n.language),
              })}
            </span>
          )}
          {!!step.usage?.cost_micros && <span>{t("runs.cost", { cost: cost(step.usage.cost_micros) })}</span>}
        </p>
        {step.kind === "message" ? (
          <div className="mt-2 rounded-card border border-line bg-surface p-4"><Markdown text={step.text} /></div>
        ) : (
          step.text && <p className={classes("mt-1 text-sm break-words", step.failed && "text-bad")}>{step.text}</p>
        )}
        <Fold title={t("runs.record")}><Code>{JSON.stringify(step.detail, null, 2)}</Code></Fold>
      </div>
    </li>
  );
}
