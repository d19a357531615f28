// Writes src/api/schema.d.ts from the OpenAPI document of a running Host: pnpm api [ADDRESS or FILE]
import { readFile, writeFile } from "node:fs/promises";
import openapi, { astToString } from "openapi-typescript";

const source = process.argv[2] ?? "http://127.0.0.1:5300/api/v1/openapi.json";
const text = source.startsWith("http") ? await (await fetch(source)).text() : await readFile(source, "utf8");
const tree = await openapi(JSON.parse(text), { alphabetize: true, defaultNonNullable: false });
const opening = "// Written by `pnpm api` from the Host's OpenAPI document. Don't edit it.\n\n";
await writeFile(new URL("../src/api/schema.d.ts", import.meta.url), opening + astToString(tree));
