// The door to the Host: paths and bodies are checked against its OpenAPI document, a change carries the session's token.
import i18next from "i18next";
import createClient, { type Middleware } from "openapi-fetch";

import { BASE, within } from "../lib/base";
import { Problem, problemOf } from "./problem";
import type { paths } from "./schema";

let token = "";

export function setToken(csrf: string): void {
  token = csrf;
}

/** The language of the page, in which the Host's own texts come. */
const pageLanguage = (): string => i18next.language || "en";

const guard: Middleware = {
  onRequest({ request }) {
    request.headers.set("Accept-Language", pageLanguage());
    if (token && request.method !== "GET") request.headers.set("X-CSRF-Token", token);
    return request;
  },
};

export const api = createClient<paths>({
  baseUrl: typeof location === "undefined" ? "" : location.origin + BASE,
  credentials: "same-origin",
});
api.use(guard);

type Answer = { data?: unknown; error?: unknown; response: Response };

/** What was answered, as the type that the caller knows it has; an error is thrown as a Problem. */
export async function answer<T>(asked: Promise<Answer>): Promise<T> {
  let got: Answer;
  try {
    got = await asked;
  } catch {
    throw new Problem(0, "unreachable", "unreachable");
  }
  if (!got.response.ok) throw problemOf(got.response.status, got.error);
  return got.data as T;
}

/** What was read, with the version that it was. */
export type Versioned<T> = { value: T; tag: string };

export async function versioned<T>(asked: Promise<Answer>): Promise<Versioned<T>> {
  const value = await answer<T>(asked);
  return { value, tag: (await asked).response.headers.get("ETag") ?? "*" };
}

/** For a change of what was read: the Host refuses it when somebody else was faster. */
export const changing = ({ tag }: Versioned<unknown>) => ({ "If-Match": tag });

/** A file, which the document's client can't carry as a form. */
export async function upload<T>(path: string, form: FormData): Promise<T> {
  const response = await fetch(within(path), { method: "POST", body: form, headers: { "X-CSRF-Token": token, "Accept-Language": pageLanguage() } });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw problemOf(response.status, body);
  return body as T;
}

export function socketAddress(path: string, query: Record<string, string>): string {
  const address = new URL(within(path), location.href);
  address.protocol = address.protocol.replace("http", "ws");
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  return address.href;
}
