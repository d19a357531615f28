// The text of a step of a trail in the language of the page, or the Host's text where the page has none.
import type { i18n as Words } from "i18next";

import type { Fields, WhyStep } from "../../api/types";
import { eventLabel } from "../../lib/useEventLabel";

type Said = Pick<Words, "t" | "exists">;
/** Names of runners and platforms, by their ids. */
export type Names = ReadonlyMap<string, string>;

export function whyWords(
  { text, sentences }: Pick<WhyStep, "text" | "sentences">,
  words: Said,
  names: Names = new Map(),
): string {
  const { t, exists } = words;
  if (sentences.length === 0 || !sentences.every(({ code }) => exists(`why.${code}`))) return text;
  return sentences
    .map(({ code, values }) => {
      const displayed = readable(values, words, names);
      return t(`why.${code === "granted" && !displayed.names ? "granted_nothing" : code}`, displayed);
    })
    .join(" ");
}

/** Returns the values of a sentence with names and labels in place of ids. */
function readable(values: Fields, words: Said, names: Names): Fields {
  const { t, exists } = words;
  const translateOr = (key: string, otherwise: unknown) => (exists(key) ? t(key) : otherwise);
  const nameOf = (id: unknown) => names.get(String(id)) ?? translateOr(`surface.${String(id)}`, id);
  return {
    ...values,
    ...(values.kind !== undefined && { what: translateOr(`whyKind.${String(values.kind)}`, values.what) }),
    ...(values.event_type !== undefined && { event_type: eventLabel(String(values.event_type), words) }),
    ...(values.source !== undefined && { source: nameOf(values.source) }),
    ...(values.where !== undefined && { where: nameOf(values.where) }),
    ...(values.runner !== undefined && { runner: names.get(String(values.runner)) ?? values.runner }),
    ...(values.action !== undefined && {
      action: translateOr(`action.${String(values.action).replace(/^elsewhere\//, "")}`, values.action),
    }),
    ...(values.status !== undefined && { status: translateOr(`state.${String(values.status)}`, values.status) }),
    ...(values.names !== undefined && { names: resources(String(values.names), words) }),
  };
}

/** Keeps only the counted resources of `history_page, 2 models`; the others are names of API calls. */
function resources(names: string, { t, exists }: Said): string {
  const counts = [...names.matchAll(/(\d+) ([a-z ]+)/g)].map(
    ([, count, kind]) => [count, `resource.${kind!.trim().replaceAll(" ", "_")}`] as const,
  );
  return counts
    .filter(([, key]) => exists(key))
    .map(([count, key]) => `${t(key)} (${count})`)
    .join(", ");
}
