// The fields of a message policy as forms, in the order of the path of a message, and the way between nested and flat
// values. A test compares the fields with the schema of the Host.
import type { Fields, FormItem, FormType } from "../../api/types";

export type PolicyField = {
  /** Path of the field in the policy or, in a list, in its entry. */
  path: string;
  type: FormType;
  options?: string[];
  initial?: unknown;
  minimum?: number;
  maximum?: number;
  /** Shown only if another field of the same form has this value. */
  if?: Record<string, unknown>;
};
export type PolicyList = { path: string; fields: PolicyField[]; entry: Fields };
export type PolicySection = { id: string; fields: PolicyField[]; lists?: PolicyList[] };

const flag = (path: string, initial = false): PolicyField => ({ path, type: "boolean", initial });
const lines = (path: string): PolicyField => ({ path, type: "array[string]" });
const choice = (path: string, options: string[], initial?: string): PolicyField => ({
  path,
  type: "select",
  options,
  initial,
});
const figure = (path: string, minimum: number, maximum: number, initial: number): PolicyField => ({
  path,
  type: "number",
  minimum,
  maximum,
  initial,
});
const shownIf = (field: PolicyField, condition: Record<string, unknown>): PolicyField => ({ ...field, if: condition });

/** Fields of the filters that ask a model or a plugin; `without` is what follows if there is no verdict. */
const askingFields = (use: string, onChoices: string[], without: string): PolicyField[] =>
  [
    figure("config.seconds", 0.1, use === "plugin" ? 5 : 10, 3),
    choice("config.on_error", ["pass", "block"], without),
    choice("on", onChoices, "block"),
  ].map((field) => shownIf(field, { use }));

/** `own` are the choices of filters that decide by themselves, `asked` those of filters that ask. */
const filterFields = (own: string[], asked: string[], without: string): PolicyField[] => [
  choice("use", ["words", "regex", "moderation", "plugin"]),
  shownIf({ path: "config.list_id", type: "select" }, { use: "words" }),
  shownIf(lines("config.words"), { use: "words" }),
  shownIf(choice("on", own, own[0]), { use: "words" }),
  shownIf(lines("config.patterns"), { use: "regex" }),
  shownIf(choice("on", own, own[0]), { use: "regex" }),
  shownIf({ path: "config.model_id", type: "select" }, { use: "moderation" }),
  shownIf(lines("config.categories"), { use: "moderation" }),
  shownIf(figure("config.threshold", 0, 1, 0), { use: "moderation" }),
  shownIf({ path: "config.plugin_id", type: "select" }, { use: "plugin" }),
  ...askingFields("moderation", asked, without),
  ...askingFields("plugin", asked, without),
];

/** Whether there are rules for groups; the rules themselves are fields of `wake.groups`. */
export const GROUP_RULES = "wake.groups";

export const POLICY_SECTIONS: PolicySection[] = [
  {
    id: "wake",
    fields: [
      flag(GROUP_RULES),
      ...[
        flag("wake.groups.mention", true),
        flag("wake.groups.reply_to_bot", true),
        lines("wake.groups.prefixes"),
        flag("wake.groups.strip", true),
        lines("wake.groups.keywords"),
        lines("wake.groups.regexes"),
        figure("wake.groups.probability", 0, 1, 0),
      ].map((field) => shownIf(field, { [GROUP_RULES]: true })),
      flag("wake.private.always", true),
      shownIf(lines("wake.private.prefixes"), { "wake.private.always": false }),
      shownIf(lines("wake.private.regexes"), { "wake.private.always": false }),
      lines("wake.ignore.prefixes"),
      lines("wake.ignore.regexes"),
      flag("wake.ignore.bots", true),
      choice("wake.access.mode", ["deny", "allow"], "deny"),
      lines("wake.access.entries"),
    ],
  },
  {
    id: "gather",
    fields: [
      figure("gather.seconds", 0, 10, 0),
      figure("gather.longest", 1, 60, 15),
      figure("gather.messages", 2, 50, 10),
      choice("gather.per", ["sender", "chat"], "sender"),
    ],
  },
  {
    id: "limits",
    fields: [],
    lists: [
      {
        path: "limits",
        entry: { per: "sender", count: 60 },
        fields: [
          choice("per", ["sender", "chat", "bot", "agent"], "sender"),
          figure("count", 1, 1_000_000, 60),
          choice("window", ["seconds", "day"], "seconds"),
          shownIf(figure("seconds", 1, 2_678_400, 60), { window: "seconds" }),
          shownIf(choice("kind", ["fixed", "sliding", "bucket"], "fixed"), { window: "seconds" }),
          choice("over", ["drop", "wait", "tell"], "drop"),
          shownIf({ path: "tell", type: "string" }, { over: "tell" }),
        ],
      },
    ],
  },
  {
    id: "input",
    fields: [choice("context.quote", ["include", "ignore"], "include"), flag("context.sender_names")],
    lists: [
      {
        path: "filters.input",
        entry: { use: "words", config: {}, on: "block" },
        fields: [
          ...filterFields(["block", "mask", "flag"], ["block", "flag"], "pass"),
          shownIf({ path: "tell", type: "string" }, { on: "block" }),
        ],
      },
    ],
  },
  {
    id: "output",
    fields: [],
    lists: [
      {
        path: "filters.output",
        entry: { use: "words", config: {}, on: "mask" },
        fields: [
          ...filterFields(["mask", "block", "replace"], ["block", "replace"], "block"),
          shownIf({ path: "text", type: "string" }, { on: "replace" }),
        ],
      },
    ],
  },
  {
    id: "delivery",
    fields: [
      flag("reply.mention_sender"),
      choice("reply.quote", ["first", "never"]),
      figure("reply.delay.0", 0, 300, 0),
      figure("reply.delay.1", 0, 300, 0),
      choice("reply.tool_calls", ["hidden", "brief", "full"], "hidden"),
      choice("reply.thinking", ["hidden", "shown"]),
      figure("long_text.over", 0, 1_000_000, 0),
      choice("long_text.as", ["split", "file", "image", "forward"], "split"),
      choice("failure.show", ["hint", "error", "nothing"], "hint"),
      shownIf({ path: "failure.hint", type: "text" }, { "failure.show": "hint" }),
    ],
  },
];

/** Returns the fields that apply to an entry: those of its own kind of filter. */
export function applicable(fields: PolicyField[], entry: Fields): PolicyField[] {
  return fields.filter((field) => field.if?.use === undefined || field.if.use === entry.use);
}

export const textKey = (path: string): string => path.replaceAll(".", "_");

/** Builds form items with the page's texts. `options` are those of selects that the Host fills. */
export function itemsOf(
  fields: PolicyField[],
  t: (key: string) => string,
  options: Record<string, { value: string; label: string }[]> = {},
): FormItem[] {
  return fields.map((field) => {
    const chosen = field.options?.map((value) => ({ value, label: t(`policyChoice.${value}`) }));
    return {
      name: field.path,
      label: { en_US: t(`policyField.${textKey(field.path)}`) },
      type: field.type,
      required: false,
      display: false,
      default: field.initial ?? null,
      minimum: field.minimum ?? null,
      maximum: field.maximum ?? null,
      show_if: field.if ?? null,
      options: (options[field.path] ?? chosen)?.map(({ value, label }) => ({ value, label: { en_US: label } })) ?? null,
    } as unknown as FormItem;
  });
}

export function valueAt(values: Fields, path: string): unknown {
  return path.split(".").reduce<unknown>((below, step) => (below as Fields | undefined)?.[step], values);
}

/** Returns the values with one at a path; undefined removes it, with the objects that are empty then. */
export function withValue(values: Fields, path: string, value: unknown): Fields {
  const [step, ...rest] = path.split(".") as [string, ...string[]];
  const { [step]: below, ...others } = values;
  const nested = rest.length > 0 ? withValue((below as Fields | undefined) ?? {}, rest.join("."), value) : value;
  const isEmpty = rest.length > 0 && Object.keys(nested as Fields).length === 0 && path !== `${GROUP_RULES}`;
  return nested === undefined || isEmpty ? others : { ...others, [step]: nested };
}

/** Returns the values of a form by their paths, with what holds if nothing is given. */
export function flatten(fields: PolicyField[], policy: Fields): Fields {
  return Object.fromEntries(
    fields.map(({ path, initial }) => {
      if (path === GROUP_RULES) return [path, valueAt(policy, path) !== undefined && valueAt(policy, path) !== null];
      return [path, valueAt(policy, path) ?? initial];
    }),
  );
}

/** Returns the policy after a change of its form. A value that is the default is left out. */
export function applied(fields: PolicyField[], policy: Fields, values: Fields): Fields {
  const before = flatten(fields, policy);
  let result = policy;
  for (const { path, initial } of fields) {
    const value = values[path];
    if (JSON.stringify(value) === JSON.stringify(before[path])) continue;
    if (path === GROUP_RULES) result = withGroups(result, value === true);
    else if (path.startsWith("reply.delay.")) result = withDelay(result, path, Number(value) || 0);
    else result = withValue(result, path, value === initial || isNothing(value) ? undefined : value);
  }
  return result;
}

const isNothing = (value: unknown): boolean => value === "" || (Array.isArray(value) && value.length === 0);

function withGroups(policy: Fields, on: boolean): Fields {
  const { groups: _, ...wake } = (policy.wake as Fields | undefined) ?? {};
  const changed = on ? { ...wake, groups: {} } : wake;
  return { ...policy, wake: changed };
}

function withDelay(policy: Fields, path: string, value: number): Fields {
  const [low, high] = (valueAt(policy, "reply.delay") as [number, number] | undefined) ?? [0, 0];
  const delay = path.endsWith("0") ? [value, Math.max(value, high)] : [Math.min(low, value), value];
  return withValue(policy, "reply.delay", delay[1] === 0 ? undefined : delay);
}
