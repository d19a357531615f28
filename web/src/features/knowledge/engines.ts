// What the page knows about the engines of plugins.
import { fieldMessage } from "../../api/problem";
import type { FormItem } from "../../api/types";

/** The engine of bases that Parlour itself stores and searches. */
export const BUILTIN = "builtin";

/** The messages of a refused form by the names of its items. */
export const formMessages = (items: FormItem[], error: unknown, field: string) =>
  Object.fromEntries(items.map((item) => [item.name, fieldMessage(error, `${field}.${item.name}`)]));
