// The HTTP client: paths and bodies are checked against the Host's OpenAPI document; changes carry the CSRF token.
import i18next from "i18next";
import createClient, { type Middleware } from "openapi-fetch";

import { BASE, within } from "../lib/base";
import { Problem, problemOf } from "./problem";
import type { paths } from "./schema";
import type { InstalledSkills, KnowledgeFile, Plugin, SkillPreview, UploadedFile } from "./types";

let token = "";

export function setToken(csrf: string): void {
  token = csrf;
}

/** The language of the page, in which the Host translates its texts. */
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

/** A resolved request of openapi-fetch: `data` if it was accepted, `error` if it was refused. */
export type Reply<Data> = { data?: Data; error?: unknown; response: Response };

/** The data of a response; an error is thrown as a Problem. */
export async function answer<Data>(request: Promise<Reply<Data>>): Promise<Data> {
  let reply: Reply<Data>;
  try {
    reply = await request;
  } catch {
    throw new Problem(0, "unreachable", "unreachable");
  }
  if (!reply.response.ok) throw problemOf(reply.response.status, reply.error);
  return reply.data!;
}

/** A value that was read, with the entity tag of its version. */
export type Versioned<T> = { value: T; tag: string };

export async function versioned<Data>(request: Promise<Reply<Data>>): Promise<Versioned<Data>> {
  const value = await answer(request);
  return { value, tag: (await request).response.headers.get("ETag") ?? "*" };
}

/** Headers of a change: the Host refuses it if the value has another version by now. */
export const ifMatch = ({ tag }: Versioned<unknown>) => ({ "If-Match": tag });

type Uploads = {
  "/api/v1/files": UploadedFile;
  "/api/v1/plugins/install": Plugin;
  "/api/v1/skills/preview": SkillPreview;
  "/api/v1/skills/install": InstalledSkills;
  [files: `/api/v1/knowledge-bases/${string}/files`]: KnowledgeFile;
};

/** Posts a form with a file, which the document's client can't carry. */
export async function upload<Path extends keyof Uploads>(path: Path, form: FormData): Promise<Uploads[Path]> {
  const headers = { "X-CSRF-Token": token, "Accept-Language": pageLanguage() };
  const response = await fetch(within(path), { method: "POST", body: form, headers });
  const body = await response.json().catch(() => undefined);
  if (!response.ok) throw problemOf(response.status, body);
  return body;
}

export function socketAddress(path: string, query: Record<string, string>): string {
  const address = new URL(within(path), location.href);
  address.protocol = address.protocol.replace("http", "ws");
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  return address.href;
}
