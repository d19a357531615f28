// The rules of a form that don't need a screen: what is shown, what it starts with, and what an empty answer means.
import type { Fields, FormItem } from "../../api/facts";

export function isShown(item: FormItem, values: Fields): boolean {
  return Object.entries(item.show_if ?? {}).every(([name, wanted]) => values[name] === wanted);
}

export function prefilled(items: FormItem[], values: Fields): Fields {
  const defaults = items.filter((item) => !item.display && item.default !== null && item.default !== undefined);
  return { ...Object.fromEntries(defaults.map((item) => [item.name, item.default])), ...values };
}

/** What was emptied is left out: the Host then knows it as not given. */
export function changed(values: Fields, name: string, value: unknown): Fields {
  const { [name]: _, ...others } = values;
  const empty = value === undefined || value === "" || value === null || Number.isNaN(value);
  return empty ? others : { ...others, [name]: value };
}

/** Only what the form asks for; a runner that was changed no longer takes the settings of the other. */
export function ofForm(items: FormItem[], values: Fields): Fields {
  const names = new Set(items.filter((item) => !item.display).map((item) => item.name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}
