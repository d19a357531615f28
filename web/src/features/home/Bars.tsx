// A small chart of bars, drawn by hand: no library is worth its weight for this. Its table is there for screen readers.
import { useTranslation } from "react-i18next";

import { figure } from "../../lib/text";
import type { Point } from "./figures";

export function Bars({ label, points }: { label: string; points: Point[] }) {
  const { t, i18n } = useTranslation();
  const most = Math.max(...points.map((point) => point.value), 0);
  const time = new Intl.DateTimeFormat(i18n.language, { month: "short", day: "numeric", hour: "2-digit" });
  const width = 100 / points.length;
  const told = (point: Point) => `${time.format(point.at)}: ${figure(Number(point.value.toFixed(4)), i18n.language)}`;
  return (
    <figure className="relative">
      <svg viewBox="0 0 100 32" preserveAspectRatio="none" className="h-28 w-full" role="img" aria-label={label}>
        <line x1="0" x2="100" y1="31.8" y2="31.8" className="stroke-line" strokeWidth="0.3" />
        {points.map((point, index) => {
          const height = most ? (point.value / most) * 30 : 0;
          return (
            <rect key={point.at} x={index * width + width * 0.12} width={width * 0.76} y={31.6 - height} height={height} rx="0.3" className="fill-accent">
              <title>{told(point)}</title>
            </rect>
          );
        })}
      </svg>
      {most > 0 && <span className="absolute -top-9 right-0 text-sm text-quiet tabular-nums">{t("home.most", { value: figure(Number(most.toFixed(4)), i18n.language) })}</span>}
      <figcaption className="mt-1 flex justify-between text-xs text-quiet">
        <span>{points[0] && time.format(points[0].at)}</span>
        <span>{points.at(-1) && time.format(points.at(-1)!.at)}</span>
      </figcaption>
    </figure>
  );
}
