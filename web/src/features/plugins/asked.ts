// What an installation was refused for: the permissions that are still to be granted, as they are named to the Host.
import type { Choice } from "../../components/form/lists";

export function askedOf(details: unknown): Choice[] {
  const asked = (details as { asked?: Record<string, string[]> } | null)?.asked ?? {};
  return Object.entries(asked).flatMap(([key, values]) => values.map((value) => ({ value: `${key}:${value}`, label: `${key}: ${value}` })));
}
