// How things are: what needs attention, what was done, and what it cost.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { Stats } from "../../api/facts";
import * as queries from "../../api/queries";
import { buttonClasses } from "../../components/Button";
import { Select } from "../../components/Field";
import { ErrorNote, Loading } from "../../components/Notes";
import { Card, PageBody } from "../../components/Surfaces";
import { cost, figure, span } from "../../lib/text";
import { type Concern, useConcerns } from "./concerns";
import { amount, series } from "./figures";
import { Bars } from "./Bars";

const SPANS = [24, 24 * 7, 24 * 31];

export default function HomePage() {
  const { t } = useTranslation();
  const [hours, setHours] = useState(24);
  const stats = useQuery(queries.stats(hours));
  return (
    <PageBody
      title={t("nav.home")}
      text={t("home.text")}
      actions={
        <>
          <Link to="/welcome" className={buttonClasses("quiet")}>{t("home.firstSteps")}</Link>
          <Select aria-label={t("home.span")} fits value={hours} onChange={(event) => setHours(Number(event.target.value))}>
            {SPANS.map((each) => <option key={each} value={each}>{t(`home.span${each}`)}</option>)}
          </Select>
        </>
      }
    >
      <div className="space-y-6">
        <Attention />
        <ErrorNote error={stats.error} />
        {stats.isPending && <Loading />}
        {stats.data && <Numbers stats={stats.data} />}
        {stats.data && <Charts stats={stats.data} hours={hours} />}
      </div>
    </PageBody>
  );
}

function Attention() {
  const { t } = useTranslation();
  const concerns = useConcerns();
  return (
    <Card title={t("home.attention")}>
      {concerns.length === 0 && (
        <p className="flex items-center gap-2 text-sm text-good"><CircleCheck aria-hidden className="size-4" /> {t("home.fine")}</p>
      )}
      <ul className="space-y-2">{concerns.map((concern) => <ConcernRow key={concern.key} concern={concern} />)}</ul>
    </Card>
  );
}

function ConcernRow({ concern }: { concern: Concern }) {
  return (
    <li className="flex items-start gap-2 text-sm">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
      <Link to={concern.to} params={concern.params} className="underline decoration-line underline-offset-4 hover:decoration-current">{concern.text}</Link>
    </li>
  );
}

function Numbers({ stats }: { stats: Stats }) {
  const { t, i18n } = useTranslation();
  const { totals } = stats;
  const runs = amount(totals, "runs.");
  const done = totals["runs.completed"] ?? 0;
  const figures: [string, string][] = [
    [t("home.messages"), figure(totals["events.message.received"] ?? 0, i18n.language)],
    [t("home.runs"), figure(runs, i18n.language)],
    [t("home.failed"), figure(runs - done - (totals["runs.cancelled"] ?? 0), i18n.language)],
    [t("home.latency"), runs ? span((totals.run_milliseconds ?? 0) / runs) : "–"],
    [t("home.tokens"), figure((totals.prompt_tokens ?? 0) + (totals.completion_tokens ?? 0), i18n.language)],
    [t("home.cost"), cost(totals.cost_micros ?? 0)],
  ];
  return (
    <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      {figures.map(([name, value]) => (
        <div key={name} className="rounded-card border border-line bg-surface p-4 shadow-card">
          <dt className="text-sm text-quiet">{name}</dt>
          <dd className="mt-1 text-2xl font-semibold tracking-tight tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Charts({ stats, hours }: { stats: Stats; hours: number }) {
  const { t } = useTranslation();
  const now = Date.now();
  const charts: [string, (item: Record<string, number>) => number][] = [
    [t("home.messages"), (item) => item["events.message.received"] ?? 0],
    [t("home.runs"), (item) => amount(item, "runs.")],
    [t("home.tokens"), (item) => (item.prompt_tokens ?? 0) + (item.completion_tokens ?? 0)],
    [t("home.cost"), (item) => (item.cost_micros ?? 0) / 1_000_000],
  ];
  return (
    <div className="grid gap-4 md:grid-cols-2">
      {charts.map(([name, of]) => (
        <Card key={name} title={name}><Bars label={name} points={series(stats.items, hours, now, of)} /></Card>
      ))}
    </div>
  );
}
