// Both languages say everything that the page asks for, and nothing that it does not.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import en from "../src/locales/en.json";
import chinese from "../src/locales/zh-Hans.json";

const source = join(import.meta.dirname, "../src");
const text = readdirSync(source, { recursive: true })
  .map(String)
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => readFileSync(join(source, name), "utf8"))
  .join("\n");

const flat = (words: object, prefix = ""): string[] =>
  Object.entries(words).flatMap(([name, value]) =>
    typeof value === "string" ? [prefix + name] : flat(value as object, `${prefix}${name}.`),
  );
const base = (key: string) => key.replace(/_(one|other)$/, "");
const english = new Set(flat(en).map(base));

const literal = new Set([...text.matchAll(/"([a-z][A-Za-z]+\.[A-Za-z0-9_]+)"/g)].map((match) => match[1]!));
/** Keys that are put together: `role.${role}`. */
const prefixes = [...text.matchAll(/`((?:[a-z][A-Za-z]*\.)+[A-Za-z]*)\$\{/g)].map((match) => match[1]!);
const asked = new Set(
  [...text.matchAll(/\bt\(\s*"([^"]+)"/g), ...text.matchAll(/\bt\([^"`)]*\? "([^"]+)" : "([^"]+)"/g)].flatMap((match) =>
    match.slice(1),
  ),
);

describe("the words of the page", () => {
  it("all exist in English", () => {
    expect(asked.size).toBeGreaterThan(200);
    expect([...asked].filter((key) => !english.has(key))).toEqual([]);
  });

  it("are all used", () => {
    const unused = [...english].filter(
      (key) => !literal.has(key) && !prefixes.some((prefix) => key.startsWith(prefix)),
    );
    expect(unused).toEqual([]);
  });

  it("are the same in Chinese", () => {
    expect([...new Set(flat(chinese).map(base))].sort()).toEqual([...english].sort());
  });

  it("show no internal names", () => {
    const said = (words: object): string[] =>
      Object.values(words).flatMap((value) => (typeof value === "string" ? [value] : said(value as object)));
    const internal = /[a-z]+_[a-z]+|\/api\/|\b(GET|PUT|DELETE) \/|[0-9a-f]{8}-[0-9a-f]{4}/;
    const shown = [...said(en), ...said(chinese)].map((text) => text.replaceAll(/\{?\{\w+\}\}?/g, ""));
    expect(shown.filter((text) => internal.test(text))).toEqual([]);
  });

  it("are established terms", () => {
    const said = (words: object): string[] =>
      Object.values(words).flatMap((value) => (typeof value === "string" ? [value] : said(value as object)));
    expect(
      said(en).filter((text) =>
        /\b(somebody|anybody|nobody|anew|meanwhile|whoever|told)\b|^What (it|was|may|becomes?)\b|^Who\b/i.test(text),
      ),
    ).toEqual([]);
    const terms = [
      en.plugins.logs,
      en.plugins.permissions,
      en.tools.takes,
      en.dryRun.title,
      en.tools.readOnly,
      en.settings.keySpan,
      en.runs.given,
      en.runs.gave,
      en.settings.light,
    ];
    expect(terms).toEqual([
      "Logs",
      "Permissions",
      "Parameters",
      "Test routing",
      "Read-only",
      "Expires",
      "Input",
      "Output",
      "Theme",
    ]);
  });

  it("are the established terms in Chinese too", () => {
    const terms = [
      chinese.plugins.logs,
      chinese.plugins.permissions,
      chinese.tools.takes,
      chinese.dryRun.title,
      chinese.tools.readOnly,
      chinese.settings.keySpan,
      chinese.runs.given,
      chinese.runs.gave,
      chinese.settings.light,
    ];
    expect(terms).toEqual(["日志", "权限", "参数", "路由测试", "只读", "过期", "输入", "输出", "主题"]);
  });

  it("take the same values in both", () => {
    const values = (words: string) => [...new Set(words.match(/\{\{\w+\}\}/g) ?? [])].sort();
    const at = (words: object, key: string) =>
      key.split(".").reduce<unknown>((part, name) => (part as Record<string, unknown>)?.[name], words) as
        string | undefined;
    const different = flat(en).filter((key) => {
      const other = at(chinese, key) ?? at(chinese, `${base(key)}_other`);
      return JSON.stringify(values(at(en, key)!)) !== JSON.stringify(values(other ?? ""));
    });
    expect(different).toEqual([]);
  });
});
