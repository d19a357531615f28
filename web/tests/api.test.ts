// The generated client describes the interface as the Host's document has it now.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("is generated from the Host's present interface", async () => {
  const script = join(import.meta.dirname, "../scripts/api.mjs");
  const said = await promisify(execFile)(process.execPath, [script, "--check"]).then(
    ({ stderr }) => stderr,
    (failed) => failed.stderr as string,
  );

  expect(said).toBe("");
}, 60_000);
