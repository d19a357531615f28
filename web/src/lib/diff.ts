// Differences between two values, field by field, and applying them to a third. Lists are one field each.

export type Difference = { path: string[]; before: unknown; after: unknown };
type Parts = Record<string, unknown>;

const hasParts = (value: unknown): value is Parts =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);

export function diff(before: unknown, after: unknown, path: string[] = []): Difference[] {
  if (!hasParts(before) || !hasParts(after)) return same(before, after) ? [] : [{ path, before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => diff(before[name], after[name], [...path, name]));
}

export function valueAt(root: unknown, path: string[]): unknown {
  return path.reduce((part: unknown, name) => (hasParts(part) ? part[name] : undefined), root);
}

/** Returns the value with these changes; fields that were removed are left out. */
export function applyDiff<Whole>(root: Whole, changes: Difference[]): Whole {
  return changes.reduce((result: unknown, { path, after }) => withValue(result, path, after), root) as Whole;
}

function withValue(root: unknown, [name, ...rest]: string[], value: unknown): unknown {
  if (name === undefined) return value;
  const { [name]: part, ...siblings } = hasParts(root) ? root : {};
  const next = withValue(part, rest, value);
  return next === undefined ? siblings : { ...(hasParts(root) ? root : {}), [name]: next };
}
