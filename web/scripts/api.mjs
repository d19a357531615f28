// Writes src/api/schema.d.ts from the Host's OpenAPI document; `pnpm api --check` only says whether it is old.
import { readFile, writeFile } from "node:fs/promises";
import openapi, { astToString } from "openapi-typescript";

const document = new URL("../../packages/host/src/parlour/http/openapi.json", import.meta.url);
const target = new URL("../src/api/schema.d.ts", import.meta.url);
const opening = "// Written by `pnpm api` from the Host's OpenAPI document. Don't edit it.\n\n";

const tree = await openapi(JSON.parse(await readFile(document, "utf8")), {
  alphabetize: true,
  defaultNonNullable: false,
});
const written = opening + astToString(tree);
if (!process.argv.includes("--check")) {
  await writeFile(target, written);
} else if (written !== (await readFile(target, "utf8"))) {
  console.error("src/api/schema.d.ts is older than the Host's interface: run `pnpm api` in web/.");
  process.exitCode = 1;
}
