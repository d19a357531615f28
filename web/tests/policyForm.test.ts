// The form of a message policy: every field of the Host's schema has an entry, and values survive the way through it.
import { describe, expect, it } from "vitest";

import en from "../src/locales/en.json";
import {
  applied,
  flatten,
  itemsOf,
  POLICY_SECTIONS,
  textKey,
  valueAt,
  withValue,
} from "../src/features/policies/policyForm";
import openapi from "../../packages/host/src/parlour/http/openapi.json";

type Schema = {
  $ref?: string;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  type?: string;
};
const schemas = openapi.components.schemas as unknown as Record<string, Schema>;
const resolved = (schema: Schema): Schema => {
  const target = schema.$ref ?? schema.anyOf?.find((each) => each.$ref)?.$ref;
  return target ? schemas[target.split("/").at(-1)!]! : schema;
};

/** Returns the paths of all fields of a schema; those of a list's entries are returned by themselves. */
function paths(schema: Schema, prefix = ""): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const inner = resolved(each);
    const path = prefix + name;
    const entries = inner.items ? [inner.items, ...(inner.items.oneOf ?? [])].map(resolved) : [];
    if (entries.some((entry) => entry.properties)) return [path, ...entries.flatMap((entry) => paths(entry))];
    return inner.properties ? paths(inner, `${path}.`) : [path];
  });
}

const offered = new Set(
  POLICY_SECTIONS.flatMap(({ fields, lists }) => [
    ...fields.map(({ path }) => path.replace(/\.[01]$/, "")),
    ...(lists ?? []).flatMap((list) => [list.path, ...list.fields.map(({ path }) => path)]),
  ]),
);

describe("the form of a message policy", () => {
  it("has an entry for every field of the schema", () => {
    expect(paths(schemas.MessagePolicy!).filter((path) => !offered.has(path))).toEqual([]);
  });

  it("has a text for every field and choice", () => {
    const fields = POLICY_SECTIONS.flatMap(({ fields, lists }) => [
      ...fields,
      ...(lists ?? []).flatMap((l) => l.fields),
    ]);
    const labels = en.policyField as Record<string, string>;
    const choices = en.policyChoice as Record<string, string>;
    expect(fields.map(({ path }) => textKey(path)).filter((key) => !(key in labels))).toEqual([]);
    expect(fields.flatMap(({ options }) => options ?? []).filter((key) => !(key in choices))).toEqual([]);
  });

  it("leaves a policy as it is when nothing is changed", () => {
    const policy = { wake: { groups: { prefixes: ["a"] } }, reply: { delay: [1, 2] } };
    for (const { fields } of POLICY_SECTIONS) expect(applied(fields, policy, flatten(fields, policy))).toBe(policy);
  });

  it("leaves out what is the default, and turns rules for groups on and off", () => {
    const { fields } = POLICY_SECTIONS[0]!;
    const on = applied(fields, {}, { ...flatten(fields, {}), "wake.groups": true });
    expect(on).toEqual({ wake: { groups: {} } });
    const named = applied(fields, on, { ...flatten(fields, on), "wake.groups.mention": false });
    expect(named).toEqual({ wake: { groups: { mention: false } } });
    const off = applied(fields, named, { ...flatten(fields, named), "wake.groups": false });
    expect(off).toEqual({ wake: {} });
  });

  it("keeps the delay in order", () => {
    const { fields } = POLICY_SECTIONS.at(-1)!;
    const slow = applied(fields, {}, { ...flatten(fields, {}), "reply.delay.0": 3 });
    expect(slow).toEqual({ reply: { delay: [3, 3] } });
    expect(valueAt(slow, "reply.delay.1")).toBe(3);
  });

  it("removes empty objects, and offers the word lists of the Host", () => {
    expect(withValue({ gather: { seconds: 2 } }, "gather.seconds", undefined)).toEqual({});
    const field = { path: "config.list_id", type: "select" as const };
    const [item] = itemsOf([field], (key) => key, { "config.list_id": [{ value: "l", label: "Words" }] });
    expect(item!.options).toEqual([{ value: "l", label: { en_US: "Words" } }]);
  });
});
