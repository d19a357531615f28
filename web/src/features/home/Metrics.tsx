// Metrics with their totals; the selected one is drawn over time.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { Stats } from "../../api/types";
import { Card } from "../../components/Layout";
import { classes } from "../../lib/classes";
import { formatCost, formatDuration, formatNumber } from "../../lib/format";
import { Chart } from "./Chart";
import { type Metric, METRICS, series } from "./metricsModel";

export function Metrics({ stats, hours }: { stats: Stats; hours: number }) {
  const { t } = useTranslation();
  const format = useFormat();
  const [name, setName] = useState<Metric["name"]>("messages");
  const selected = METRICS.find((each) => each.name === name) ?? METRICS[0]!;
  const label = t(`home.${selected.name}`);
  return (
    <Card className="p-0!">
      <div
        role="group"
        aria-label={t("home.measure")}
        className="grid grid-cols-2 border-b border-line @lg:grid-cols-3 @4xl:grid-cols-6"
      >
        {METRICS.map((each) => {
          const value = each.of(stats.totals);
          return (
            <button
              key={each.name}
              type="button"
              aria-pressed={each.name === name}
              onClick={() => setName(each.name)}
              className={classes(
                "border-b-2 px-5 py-4 text-left -outline-offset-2 first:rounded-tl-card hover:bg-raised/60 @4xl:last:rounded-tr-card",
                each.name === name ? "border-accent" : "border-transparent",
              )}
            >
              <span className={classes("block text-sm", each.name === name ? "font-medium text-accent" : "text-quiet")}>
                {t(`home.${each.name}`)}
              </span>
              <span
                className={classes(
                  "mt-0.5 block text-2xl font-semibold tracking-tight tabular-nums",
                  each.name === "failed" && value > 0 && "text-bad",
                )}
              >
                {each.name === "latency" && value === 0 ? "–" : format(each.name, value)}
              </span>
            </button>
          );
        })}
      </div>
      <div className="p-5 pt-8">
        <Chart
          label={label}
          points={series(stats.items, hours, Date.now(), selected.of, selected.bad)}
          told={(value) => format(selected.name, value)}
        />
      </div>
    </Card>
  );
}

function useFormat(): (name: Metric["name"], value: number) => string {
  const { i18n } = useTranslation();
  return (name, value) => {
    if (name === "latency") return formatDuration(value);
    if (name === "cost") return formatCost(value);
    return formatNumber(Math.round(value * 10) / 10, i18n.language);
  };
}
