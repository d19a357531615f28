// An error response of the Host. Its message is a sentence for users, with a remedy.

export type FieldProblem = { field: string; message: string };

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: unknown = null,
  ) {
    super(message);
    this.name = "Problem";
  }

  get fields(): FieldProblem[] {
    const details = this.details as { fields?: FieldProblem[] } | null;
    return Array.isArray(details?.fields) ? details.fields : [];
  }
}

/** Whether the resource of the address does not exist (any more). */
export const isGone = (error: unknown): boolean => error instanceof Problem && error.status === 404;

export function problemOf(status: number, body: unknown): Problem {
  const error = (body as { error?: { code?: string; message?: string; details?: unknown } } | undefined)?.error;
  if (error?.message) return new Problem(status, error.code ?? "runtime_error", error.message, error.details);
  return new Problem(status, "runtime_error", `HTTP ${status}`);
}

/** Returns the message about a field or about anything nested in it. */
export function fieldMessage(error: unknown, field: string): string | undefined {
  if (!(error instanceof Problem)) return undefined;
  return error.fields.find((each) => each.field === field || each.field.startsWith(`${field}.`))?.message;
}

/**
 * Returns the message with the label of a field in place of its path: `time zone: must be …`, not
 * `workspace.time_zone: must be …`. `called` returns the label that the form uses.
 */
export function readable(problem: Problem, labelOf: (name: string) => string = () => ""): string {
  const firstField = problem.fields[0];
  if (!firstField || !problem.message.startsWith(`${firstField.field}:`)) return problem.message;
  const name =
    firstField.field
      .split(".")
      .filter((part) => !/^\d+$/.test(part))
      .at(-1) ?? firstField.field;
  return `${labelOf(name) || name.replaceAll("_", " ")}: ${problem.message.slice(firstField.field.length + 1).trim()}`;
}

const REQUEST = /\b(GET|POST|PUT|PATCH|DELETE) \/|\/api\/v1/;
const OWN_ID = / ?'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'/g;

/**
 * Removes what only programs need from a message: advice to send a request, generated ids, and names of fields, which
 * are replaced by the labels of the form.
 */
export function withoutInternals(message: string, labelOf: (name: string) => string = () => ""): string {
  const clauses = message.split("; ").filter((clause) => !REQUEST.test(clause));
  return (
    clauses
      .join("; ")
      .replaceAll(OWN_ID, "")
      .replaceAll(/\b[a-z]+(_[a-z]+)+\b/g, (name) => (labelOf(name) ? `“${labelOf(name)}”` : name)) || message
  );
}
