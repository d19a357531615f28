// Skills on the page: a zip is looked at and installed, its files are read and edited, and the skill is deleted.
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it } from "vitest";

import { visit, world } from "./support/visit";
import { word } from "./support/words";

const PACK = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as pack:
    pack.writestr("report/SKILL.md", "---\\nname: report\\ndescription: Writes reports.\\n---\\n\\nBe brief.\\n")
    pack.writestr("report/references/style.md", "Short sentences.\\n")
    pack.writestr("broken/SKILL.md", "nothing")
`;

it("installs the skills of a zip that can be used, edits a file, and deletes the skill", async () => {
  const zip = join(mkdtempSync(join(tmpdir(), "skills-")), "skills.zip");
  execFileSync("python3", ["-c", PACK, zip]);
  const { page } = await visit("/skills");
  await page.getByText(word("skills.none")).waitFor();
  await page.getByRole("button", { name: word("skills.install") }).click();
  await page.getByLabel(word("skills.zip")).setInputFiles(zip);
  await page.getByRole("button", { name: word("skills.look") }).click();
  const found = page.getByRole("list", { name: word("skills.found") });
  await found.getByText("Writes reports.").waitFor();
  await found.getByText(word("skills.unusable")).waitFor();
  await page
    .getByRole("button", {
      name: word("skills.installChosen_one", { count: 1 }),
    })
    .click();

  await page.getByRole("link", { name: "report" }).click();
  await page.getByRole("button", { name: /style\.md/ }).click();
  const editor = page.getByRole("textbox", { name: "references/style.md" });
  await editor.fill("Long sentences.\n");
  await page.getByRole("button", { name: word("common.save") }).click();
  const read = async () => (await world.api<{ text: string }>("GET", "/skills/report/files/references/style.md")).text;
  await expect.poll(read).toBe("Long sentences.\n");

  await page.getByRole("button", { name: word("common.delete"), exact: true }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: word("common.delete"), exact: true })
    .click();
  await page.getByText(word("skills.none")).waitFor();
  await page.context().close();
});
