// Differences between two values, field by field, and applying them to a third. Lists are one field each.

export type Difference = { path: string[]; before: unknown; after: unknown };
type Parts = Record<string, unknown>;

const hasParts = (value: unknown): value is Parts =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

export function diff(before: unknown, after: unknown, path: string[] = []): Difference[] {
  if (!hasParts(before) || !hasParts(after)) return same(before, after) ? [] : [{ path, before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => diff(before[name], after[name], [...path, name]));
}

export function valueAt(whole: unknown, path: string[]): unknown {
  return path.reduce((part: unknown, name) => (hasParts(part) ? part[name] : undefined), whole);
}

/** Returns the value with these changes; fields that were removed are left out. */
export function applyDiff<Whole>(whole: Whole, changes: Difference[]): Whole {
  return changes.reduce((made: unknown, { path, after }) => withValue(made, path, after), whole) as Whole;
}

function withValue(whole: unknown, [name, ...rest]: string[], value: unknown): unknown {
  if (name === undefined) return value;
  const { [name]: part, ...others } = hasParts(whole) ? whole : {};
  const next = withValue(part, rest, value);
  return next === undefined ? others : { ...(hasParts(whole) ? whole : {}), [name]: next };
}
