// Code is coloured and stays, letter by letter, what it was.
import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import { Markdown } from "../src/components/Markdown";
import { highlighted } from "../src/lib/highlight";

const of = (code: string, language: string, kind: string) =>
  highlighted(code, language)
    .filter((part) => part.kind === kind)
    .map((part) => part.text);
const PYTHON = 'def greet(name: str) -> int:\n    """Says "hello".\n    """\n    return 42  # not "this"\n';

describe("code", () => {
  it("has its keywords, strings, numbers and comments separated", () => {
    expect(of(PYTHON, "python", "word")).toEqual(["def", "return"]);
    expect(of(PYTHON, "python", "text")).toEqual(['"""Says "hello".\n    """']);
    expect(of(PYTHON, "python", "number")).toEqual(["42"]);
    expect(of(PYTHON, "python", "comment")).toEqual(['# not "this"']);
    expect(of("SELECT id FROM t -- all", "sql", "word")).toEqual(["SELECT", "FROM"]);
    expect(of('const a = "//"; // b', "ts", "comment")).toEqual(["// b"]);
  });

  it.each([
    ["python", PYTHON],
    ["js", 'const a = `x ${b} \\` y`; /* never closed "'],
    ["sh", "echo $#; # end\n'open"],
    ["sql", "select 'it''s'"],
    ["json", '{"a": [1, 2.5e3, null]}'],
    ["klingon", "Heghlu'meH QaQ jajvam"],
    ["python", `"${"\\".repeat(5001)}`],
    ["js", "/*".repeat(9000)],
  ])("in %s loses no letter", (language, code) => {
    expect(
      highlighted(code, language)
        .map((part) => part.text)
        .join(""),
    ).toBe(code);
  });

  it("that is very long stays plain rather than slow", () => {
    expect(highlighted("if ".repeat(10_000), "python")).toHaveLength(1);
  });

  it("is copied as it was written, and makes no elements of what it holds", () => {
    const { container } = render(
      <Markdown
        text={"```html\n<script>alert(1)</script>\n```\n\n```js\nconst a = '<img src=x onerror=alert(1)>';\n```"}
      />,
    );
    expect(container.querySelectorAll("script, img")).toHaveLength(0);
    expect(container.querySelectorAll("pre")[1]!.textContent).toBe("const a = '<img src=x onerror=alert(1)>';\n");
  });
});
