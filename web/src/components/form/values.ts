// The rules of a form without rendering: which items are shown, initial values, and empty values.
import type { Fields, FormItem, Model } from "../../api/types";

export function isShown(item: FormItem, values: Fields): boolean {
  return Object.entries(item.show_if ?? {}).every(([name, expected]) =>
    expected === true ? isFilled(values[name]) : values[name] === expected,
  );
}

const isFilled = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value));

export function prefilled(items: FormItem[], values: Fields): Fields {
  const defaults = items.filter((item) => !item.display && item.default !== null && item.default !== undefined);
  return { ...Object.fromEntries(defaults.map((item) => [item.name, item.default])), ...values };
}

const DEMO = "demo";

/** Returns the values of a new form: defaults, and the first configured model for its model selector. */
export function newForm(items: FormItem[], models: Model[]): Fields {
  const chat = models.filter((model) => model.type === "llm");
  const model = chat.find((each) => each.provider_id !== DEMO) ?? chat[0];
  if (!model) return prefilled(items, {});
  const selected = items
    .filter((item) => item.type === "llm-model-selector" || item.type === "model-fallback-selector")
    .slice(0, 1);
  const values = selected.map((item) => [
    item.name,
    item.type === "llm-model-selector" ? model.model_id : { primary: model.model_id, fallbacks: [] },
  ]);
  return { ...Object.fromEntries(values), ...prefilled(items, {}) };
}

/** Hides a selector without options, unless something was selected before. */
export function hasChoices(
  item: FormItem,
  value: unknown,
  choices: { knowledgeBases: unknown[]; skills: unknown[]; models: Model[] },
): boolean {
  if (isFilled(value)) return true;
  if (item.type === "knowledge-base-multi-selector") return choices.knowledgeBases.length > 0;
  if (item.type === "skill-multi-selector") return choices.skills.length > 0;
  if (item.type === "rerank-model-selector") return choices.models.some((model) => model.type === "rerank");
  return true;
}

/** Drops an empty value, which the Host takes as not given. */
export function changed(values: Fields, name: string, value: unknown): Fields {
  const { [name]: _, ...remaining } = values;
  const empty = value === undefined || value === "" || value === null || Number.isNaN(value);
  return empty ? remaining : { ...remaining, [name]: value };
}

/** Keeps only the values of the form's items, so that a new runner gets no settings of the former one. */
export function ofForm(items: FormItem[], values: Fields): Fields {
  const names = new Set(items.filter((item) => !item.display).map((item) => item.name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}
