// Routes while they are edited, in the order of the page, each with a key until it is saved.
import { Problem } from "../../api/problem";
import type { Fields, Route } from "../../api/types";

export type RouteDraft = Route & { key: string };

/** The properties of a handler's form. */
export type HandlerProps = {
  config: Fields;
  problems: Record<string, string>;
  disabled: boolean;
  onChange: (config: Fields) => void;
};

let createdCount = 0;

export function fresh(agentId: string | undefined): RouteDraft {
  createdCount += 1;
  return {
    key: `new-${createdCount}`,
    route_id: "",
    event_type: "message.received",
    handler_type: "agent",
    handler_config: agentId ? { agent_id: agentId } : {},
    filters: {},
    enabled: true,
    priority: 0,
    description: "",
  };
}

/** Returns how specific a pattern is, as the Host ranks it: exact type, family by its parts, all events. */
function specificity(pattern: string): number {
  if (pattern === "*") return 0;
  return pattern.endsWith(".*") ? pattern.split(".").length - 1 : 100;
}

/** Sorts routes in the order in which the Host tries them; other clients may have stored them in another order. */
export function drafted(routes: Route[]): RouteDraft[] {
  return routes
    .map((route) => ({ ...route, key: route.route_id }))
    .sort(
      (left, right) => right.priority - left.priority || specificity(right.event_type) - specificity(left.event_type),
    );
}

/** Returns routes as the Host takes them. Priorities follow the order on the page; higher ones are tried first. */
export function numbered(routes: RouteDraft[]): Route[] {
  return routes.map(({ key: _, ...route }, index) => ({ ...route, priority: (routes.length - index) * 10 }));
}

/** Returns the messages about the fields of the route at this index. */
export function problemsAt(error: unknown, index: number): Record<string, string> {
  if (!(error instanceof Problem)) return {};
  const prefix = `${index}.`;
  return Object.fromEntries(
    error.fields
      .filter((each) => each.field.startsWith(prefix))
      .map((each) => [each.field.slice(prefix.length), each.message]),
  );
}

/** Returns the message about a field or about anything nested in it. */
export function problemOf(problems: Record<string, string>, field: string): string | undefined {
  const name = Object.keys(problems).find((each) => each === field || each.startsWith(`${field}.`));
  return name === undefined ? undefined : problems[name];
}
