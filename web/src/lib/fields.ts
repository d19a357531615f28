// Reads values whose shape the Host's document leaves open.
import type { Fields } from "../api/types";

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields of an object; none of any other value. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
