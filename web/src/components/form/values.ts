// The rules of a form that don't need a screen: what is shown, what it starts with, and what an empty answer means.
import type { Fields, FormItem, Model } from "../../api/types";

export function isShown(item: FormItem, values: Fields): boolean {
  return Object.entries(item.show_if ?? {}).every(([name, wanted]) =>
    wanted === true ? isFilled(values[name]) : values[name] === wanted,
  );
}

const isFilled = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value));

export function prefilled(items: FormItem[], values: Fields): Fields {
  const defaults = items.filter((item) => !item.display && item.default !== null && item.default !== undefined);
  return { ...Object.fromEntries(defaults.map((item) => [item.name, item.default])), ...values };
}

const DEMO = "demo";

/** A new form: its defaults, and in its choice of the model that answers the first one that was set up. */
export function newForm(items: FormItem[], models: Model[]): Fields {
  const chat = models.filter((model) => model.type === "llm");
  const model = chat.find((each) => each.provider_id !== DEMO) ?? chat[0];
  if (!model) return prefilled(items, {});
  const chosen = items
    .filter((item) => item.type === "llm-model-selector" || item.type === "model-fallback-selector")
    .slice(0, 1);
  const values = chosen.map((item) => [
    item.name,
    item.type === "llm-model-selector" ? model.model_id : { primary: model.model_id, fallbacks: [] },
  ]);
  return { ...Object.fromEntries(values), ...prefilled(items, {}) };
}

/** Fields that choose from a list with nothing on it are left out, unless something was chosen once. */
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
  const { [name]: _, ...others } = values;
  const empty = value === undefined || value === "" || value === null || Number.isNaN(value);
  return empty ? others : { ...others, [name]: value };
}

/** Keeps only the values of the form's items, so that a new runner gets no settings of the former one. */
export function ofForm(items: FormItem[], values: Fields): Fields {
  const names = new Set(items.filter((item) => !item.display).map((item) => item.name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}
