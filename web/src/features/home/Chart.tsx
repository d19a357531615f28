// A column chart over time without a library, with a table for screen readers.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { classes } from "../../lib/classes";
import { type Point, roundUp } from "./metricsModel";

const LINES = [1, 0.5, 0];

export function Chart({ label, points, told }: { label: string; points: Point[]; told: (value: number) => string }) {
  const { i18n } = useTranslation();
  const [hovered, setHovered] = useState<number | null>(null);
  const time = new Intl.DateTimeFormat(i18n.language, {
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const top = roundUp(Math.max(...points.map((point) => point.value)));
  const ends = [points[0], points[Math.floor(points.length / 2)], points.at(-1)];
  return (
    <figure>
      <div className="relative ml-14 h-56">
        {LINES.map((line) => (
          <div
            key={line}
            className={classes(
              "absolute inset-x-0 border-t",
              line === 0 ? "border-edge/50" : "border-dashed border-line",
            )}
            style={{ bottom: `${line * 100}%` }}
          >
            <span className="absolute right-full -translate-y-1/2 pr-3 text-xs whitespace-nowrap text-quiet tabular-nums">
              {told(line * top)}
            </span>
          </div>
        ))}
        <div aria-hidden className="absolute inset-0 flex items-end" onPointerLeave={() => setHovered(null)}>
          {points.map((point, index) => (
            <div
              key={point.at}
              className="group flex h-full flex-1 items-end px-px sm:px-0.5"
              onPointerEnter={() => setHovered(index)}
            >
              <Column point={point} top={top} faint={hovered !== null && hovered !== index} />
            </div>
          ))}
        </div>
        {hovered !== null && points[hovered] && (
          <Tip
            text={`${time.format(points[hovered].at)} · ${told(points[hovered].value)}`}
            place={(hovered + 0.5) / points.length}
          />
        )}
      </div>
      <figcaption aria-hidden className="mt-2 ml-14 flex justify-between text-xs text-quiet tabular-nums">
        {ends.map((point, index) => (
          <span key={index}>{point && time.format(point.at)}</span>
        ))}
      </figcaption>
      <table className="sr-only">
        <caption>{label}</caption>
        <tbody>
          {points
            .filter((point) => point.value > 0)
            .map((point) => (
              <tr key={point.at}>
                <th scope="row">{time.format(point.at)}</th>
                <td>{told(point.value)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </figure>
  );
}

function Column({ point, top, faint }: { point: Point; top: number; faint: boolean }) {
  const share = (value: number) => `${Math.max(value > 0 ? 1.5 : 0, (value / top) * 100)}%`;
  return (
    <div
      className={classes(
        "flex w-full flex-col justify-end overflow-hidden rounded-t-sm transition-opacity",
        faint && "opacity-40",
      )}
      style={{ height: share(point.value) }}
    >
      <div className="min-h-0 flex-1 bg-accent" />
      {point.bad > 0 && (
        <div className="shrink-0 bg-bad" style={{ height: `${Math.min(1, point.bad / point.value) * 100}%` }} />
      )}
    </div>
  );
}

function Tip({ text, place }: { text: string; place: number }) {
  const alignment = place > 0.75 ? "-translate-x-full" : place > 0.25 ? "-translate-x-1/2" : "";
  return (
    <div
      className={classes(
        "pointer-events-none absolute -top-3 z-1 rounded-control bg-ink px-2.5 py-1 text-xs whitespace-nowrap text-ground tabular-nums",
        alignment,
      )}
      style={{ left: `${place * 100}%` }}
    >
      {text}
    </div>
  );
}
