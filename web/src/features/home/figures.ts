// Hours without anything are left out by the Host and put back here, so that time is even on a chart.

const HOUR = 3_600_000;
const COLUMNS = 48;

export type Point = { at: number; value: number };

/** Everything whose name begins so, added up. */
export function amount(item: Record<string, number>, prefix: string): number {
  return Object.entries(item).reduce((sum, [name, value]) => (name.startsWith(prefix) ? sum + value : sum), 0);
}

export function series(items: ({ hour: number } & Record<string, number>)[], hours: number, now: number, of: (item: Record<string, number>) => number): Point[] {
  const width = Math.max(1, Math.ceil(hours / COLUMNS));
  const last = Math.floor(now / HOUR);
  const columns = Math.ceil(hours / width);
  const points = Array.from({ length: columns }, (_, index) => ({ at: (last - (columns - 1 - index) * width) * HOUR, value: 0 }));
  for (const item of items) {
    const back = Math.floor((last - Math.floor(item.hour / HOUR)) / width);
    const point = points[columns - 1 - back];
    if (point) point.value += of(item);
  }
  return points;
}
