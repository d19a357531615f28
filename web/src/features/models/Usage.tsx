// The usage and cost of models in the last month.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Select } from "../../components/Field";
import { formatCost, formatNumber } from "../../lib/format";
import * as modelQueries from "./queries";
import { type By, lastDays, summed, type UsageRow } from "./usageModel";

const DAYS = 31;

export function Usage() {
  const { t, i18n } = useTranslation();
  const days = lastDays(new Date().toISOString().slice(0, 10), DAYS);
  const date = (day: string) =>
    new Intl.DateTimeFormat(i18n.language, { dateStyle: "medium", timeZone: "UTC" }).format(Date.parse(day));
  const usage = useQuery(modelQueries.usage(DAYS));
  const [by, setBy] = useState<By>("model");
  if (usage.error) return <ErrorMessage error={usage.error} />;
  if (!usage.data) return <Loading />;
  if (usage.data.length === 0) return <Empty title={t("models.unused")} text={t("models.unusedText")} />;
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-sm text-quiet">{t("models.usageText", { from: date(days[0]!), to: date(days.at(-1)!) })}</p>
        <Select aria-label={t("models.usageBy")} fits value={by} onChange={(event) => setBy(event.target.value as By)}>
          <option value="model">{t("models.byModel")}</option>
          <option value="agent">{t("models.byAgent")}</option>
        </Select>
      </div>
      <Table rows={summed(usage.data, by)} days={days} deleted={t(`usage.deleted_${by}`)} />
    </div>
  );
}

function Table({ rows, days, deleted }: { rows: UsageRow[]; days: string[]; deleted: string }) {
  const { t, i18n } = useTranslation();
  const number = (amount: number) => formatNumber(amount, i18n.language);
  const cell = "px-2 py-3 @lg:px-4 text-right tabular-nums";
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label={t("models.usage")}
      className="overflow-x-auto rounded-card border border-line bg-surface shadow-card"
    >
      <table className="w-full text-sm">
        <thead className="border-b border-line text-quiet">
          <tr>
            <th scope="col" className="px-2 py-2.5 text-left font-medium @lg:px-4">
              {t("common.name")}
            </th>
            <th scope="col" className="hidden px-4 py-2.5 text-left font-medium @3xl:table-cell">
              {t("models.perDay")}
            </th>
            {["calls", "tokensIn", "tokensOut", "cost"].map((name) => (
              <th key={name} scope="col" className="px-2 py-2.5 text-right font-medium @lg:px-4">
                {t(`usage.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row" className="max-w-24 truncate px-2 py-3 @lg:max-w-56 @lg:px-4 text-left font-medium">
                {row.name || (row.key ? deleted : "–")}
              </th>
              <td className="hidden px-4 py-3 @3xl:table-cell">
                <Days days={days} amounts={row.days} />
              </td>
              <td className={cell}>{number(row.calls)}</td>
              <td className={cell}>{number(row.input)}</td>
              <td className={cell}>{number(row.output)}</td>
              <td className={cell}>
                {formatCost(row.cost)}
                {row.unpriced > 0 && (
                  <span className="block text-xs text-warn">{t("models.unpricedCalls", { count: row.unpriced })}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Days({ days, amounts }: { days: string[]; amounts: Map<string, number> }) {
  const maximum = Math.max(...amounts.values(), 1);
  return (
    <svg aria-hidden viewBox={`0 0 ${days.length * 4} 20`} className="h-5 w-32">
      {days.map((day, index) => {
        const height = ((amounts.get(day) ?? 0) / maximum) * 19;
        return (
          <rect
            key={day}
            x={index * 4}
            y={20 - Math.max(height, 0.6)}
            width="3"
            height={Math.max(height, 0.6)}
            className={height ? "fill-accent" : "fill-line"}
          />
        );
      })}
    </svg>
  );
}
