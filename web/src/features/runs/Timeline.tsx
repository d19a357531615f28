// The steps of a run, each with its position in the whole duration.
import {
  Ban,
  CircleCheck,
  CircleX,
  Compass,
  Cpu,
  Database,
  FileText,
  Inbox,
  ListChecks,
  type LucideIcon,
  MessageSquare,
  Send,
  ShieldCheck,
  ShieldQuestion,
  Waypoints,
  Wrench,
} from "lucide-react";
import { useTranslation } from "react-i18next";

import type { Run } from "../../api/types";
import { Collapsible } from "../../components/Collapsible";
import { DiffText } from "../../components/DiffText";
import { Code, State } from "../../components/Layout";
import { Markdown } from "../../components/Markdown";
import { within } from "../../lib/base";
import { classes } from "../../lib/classes";
import { formatCost, formatDuration, formatNumber, formatTime } from "../../lib/format";
import { useParty } from "../approvals/useParty";
import { ModelCall } from "./ModelCall";
import { Plan } from "./Plan";
import { barOf, startOf, type Step, type StepKind } from "./timelineModel";

const ICONS: Record<StepKind, LucideIcon> = {
  event: Inbox,
  model: Cpu,
  tool: Wrench,
  message: MessageSquare,
  state: Database,
  artifact: FileText,
  action: ShieldQuestion,
  approval: ShieldCheck,
  steering: Compass,
  plan: ListChecks,
  denial: Ban,
  delivery: Send,
  end: CircleCheck,
  failure: CircleX,
  other: Waypoints,
};

/** Kinds whose details are on the page already. */
const WHOLE = new Set<StepKind>(["event", "model", "message", "plan", "end"]);

type Props = {
  steps: Step[];
  names: Map<string, string>;
  run?: Pick<Run, "run_id" | "created_at" | "started_at">;
  opensCalls?: boolean;
};

/** `names` are the names of models by id. `opensCalls`: the user may read prompts and answers. */
export function Timeline({ steps, names, run, opensCalls = false }: Props) {
  const from = startOf(steps, run ?? {});
  const to = Math.max(...steps.map((step) => step.at + (step.milliseconds ?? 0)));
  return (
    <ol className="relative before:absolute before:top-4 before:bottom-6 before:left-4 before:w-px before:bg-line">
      {steps.map((step) => (
        <StepItem
          key={step.key}
          step={step}
          name={names.get(step.name) ?? step.name}
          runId={opensCalls ? run?.run_id : undefined}
          from={from}
          to={to}
        />
      ))}
    </ol>
  );
}

function StepItem({
  step,
  name,
  runId,
  from,
  to,
}: {
  step: Step;
  name: string;
  runId?: string;
  from: number;
  to: number;
}) {
  const { t } = useTranslation();
  const Icon = ICONS[step.kind];
  return (
    <li className="relative flex gap-4 pb-5">
      <span
        className={classes(
          "z-1 grid size-8 shrink-0 place-items-center rounded-full border",
          step.failed ? "border-bad/40 bg-bad-wash text-bad" : "border-line bg-surface text-quiet",
        )}
      >
        <Icon aria-hidden className="size-4" />
      </span>
      <div className="min-w-0 flex-1 pt-1">
        <div className="flex items-baseline gap-x-3">
          <div className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-3 gap-y-0.5">
            <span className="font-medium">{t(`step.${step.kind}`)}</span>
            {name && <span className="min-w-0 font-mono text-sm break-words text-quiet">{name}</span>}
            {step.state && <State state={step.state} />}
          </div>
          <When step={step} from={from} to={to} />
        </div>
        <Figures step={step} />
        {step.by && <Decider identity={step.by} />}
        <Content step={step} />
        {runId && step.callId && (
          <Collapsible title={t("runs.promptAndAnswer")}>
            <ModelCall runId={runId} callId={step.callId} />
          </Collapsible>
        )}
        <Folds step={step} />
      </div>
    </li>
  );
}

/** The offset of a step from the start of the run, and its bar within the whole duration. */
function When({ step, from, to }: { step: Step; from: number; to: number }) {
  const { i18n } = useTranslation();
  const bar = barOf(step, from, to);
  return (
    <>
      {bar && (
        <span aria-hidden className="relative h-1.5 w-40 shrink-0 self-center rounded-full bg-raised max-lg:hidden">
          <span
            className={classes("absolute inset-y-0 rounded-full", step.failed ? "bg-bad" : "bg-accent")}
            style={{ left: `${bar.left * 100}%`, width: `${bar.width * 100}%` }}
          />
        </span>
      )}
      <time
        title={formatTime(step.at, i18n.language)}
        className="min-w-16 shrink-0 text-right text-xs whitespace-nowrap text-quiet tabular-nums"
      >
        {step.at < from ? "−" : "+"}
        {formatDuration(Math.abs(step.at - from))}
      </time>
    </>
  );
}

function Figures({ step }: { step: Step }) {
  const { t, i18n } = useTranslation();
  const { usage } = step;
  if (step.milliseconds === undefined && !usage) return null;
  return (
    <p className="flex flex-wrap gap-x-3 text-sm text-quiet tabular-nums">
      {step.milliseconds !== undefined && <span>{formatDuration(step.milliseconds)}</span>}
      {usage && (
        <span>
          {t("runs.tokens", {
            in: formatNumber(usage.prompt_tokens ?? 0, i18n.language),
            out: formatNumber(usage.completion_tokens ?? 0, i18n.language),
          })}
        </span>
      )}
      {!!usage?.cost_micros && <span>{t("runs.cost", { cost: formatCost(usage.cost_micros) })}</span>}
    </p>
  );
}

function Decider({ identity }: { identity: string }) {
  const { t } = useTranslation();
  return <p className="text-sm text-quiet">{t("runs.decidedBy", { who: useParty(identity) })}</p>;
}

function Content({ step }: { step: Step }) {
  const { t } = useTranslation();
  if (step.kind === "message") {
    return (
      <div className="mt-2 rounded-card border border-line bg-surface p-4">
        {step.thinking && (
          <Collapsible title={t("chat.thoughts")}>
            <p className="mb-3 border-l-2 border-line pl-3 text-sm break-words whitespace-pre-wrap text-quiet">
              {step.thinking}
            </p>
          </Collapsible>
        )}
        <Markdown text={step.text} />
      </div>
    );
  }
  return (
    <>
      {step.text && (
        <p
          className={classes(
            "mt-1 text-sm break-words whitespace-pre-wrap",
            step.failed
              ? "text-bad"
              : step.kind === "event" &&
                  "rounded-2xl rounded-tl-md bg-accent-wash px-4 py-2.5 w-fit max-w-full text-[0.9375rem]",
          )}
        >
          {step.text}
        </p>
      )}
      {step.plan && <Plan entries={step.plan} />}
      {step.diffs?.map((diff) => (
        <div key={diff.path} className="mt-2 space-y-1">
          <p className="font-mono text-xs break-all text-quiet">
            {diff.path} <span className="text-good">+{diff.added}</span>{" "}
            <span className="text-bad">-{diff.removed}</span>
          </p>
          {diff.text && <DiffText>{diff.text}</DiffText>}
        </div>
      ))}
      {step.files?.map((file) => (
        <a
          key={file.artifact_id}
          href={within(`/api/v1/artifacts/${encodeURIComponent(file.artifact_id)}/content`)}
          className="mt-1 inline-block text-sm text-accent underline"
          download
        >
          {file.name}
        </a>
      ))}
    </>
  );
}

function Folds({ step }: { step: Step }) {
  const { t } = useTranslation();
  if (WHOLE.has(step.kind) && !step.failed) return null;
  return (
    <>
      {isSomething(step.given) && (
        <Collapsible title={t("runs.given")}>
          <Code>{formatValue(step.given)}</Code>
        </Collapsible>
      )}
      {isSomething(step.gave) && (
        <Collapsible title={t("runs.gave")}>
          <Code>{formatValue(step.gave)}</Code>
        </Collapsible>
      )}
      {step.given === undefined && step.gave === undefined && (
        <Collapsible title={t("runs.record")}>
          <Code>{formatValue(step.detail)}</Code>
        </Collapsible>
      )}
    </>
  );
}

function isSomething(value: unknown): boolean {
  return value !== undefined && value !== null && JSON.stringify(value) !== "{}";
}

function formatValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
