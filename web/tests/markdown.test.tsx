// Text of users, models and tools can't act on the page, load anything external or imitate the page itself.
import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import { Markdown, safeAddress } from "../src/components/Markdown";

const HOSTILE = [
  "<script>window.taken = true</script>",
  '<img src=x onerror="window.taken = true">',
  "<svg onload=alert(1)><circle/></svg>",
  '<iframe src="https://evil.example"></iframe>',
  "<style>body { display: none }</style>",
  "<form action=https://evil.example><input name=password><button>Log in</button></form>",
  '<a href="javascript:alert(1)">x</a>',
  "<link rel=stylesheet href=https://evil.example/x.css>",
  "<base href=https://evil.example/>",
  '<meta http-equiv=refresh content="0;url=https://evil.example">',
  "<object data=https://evil.example></object><embed src=https://evil.example>",
  "<details open ontoggle=alert(1)><summary>x</summary></details>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](java\nscript:alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
  "[x](vbscript:msgbox(1))",
  "[x](//evil.example/login)",
  "[x](/settings)",
  "[x](file:///etc/passwd)",
  "[x](blob:https://evil.example/1)",
  "![x](javascript:alert(1))",
  "![x](https://evil.example/pixel.gif)",
  "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
  "[![x](https://evil.example/pixel.gif)](javascript:alert(1))",
  "<javascript:alert(1)>",
  "[x]: javascript:alert(1)\n\n[x]",
  "[^1]\n\n[^1]: <script>alert(1)</script>",
  "| <img src=x onerror=alert(1)> |\n| --- |\n| <script>alert(1)</script> |",
  "```html\n<script>alert(1)</script>\n```",
  "`<img src=x onerror=alert(1)>`",
  "- [ ] <input type=password>",
  '<div style="position:fixed;inset:0">Your session is over, log in</div>',
  '[x](https://evil.example "onmouseover=alert(1)")',
  "\u202Egnp.exe [x](https://evil.example)",
];
const ALLOWED = new Set(
  (
    "DIV P A SPAN STRONG EM DEL CODE PRE BUTTON SVG PATH RECT LINE CIRCLE POLYLINE UL OL LI H1 H2 H3 H4 H5 H6 BLOCKQUOTE HR BR " +
    "TABLE THEAD TBODY TR TH TD INPUT SUP SECTION"
  ).split(" "),
);

describe("hostile text", () => {
  it.each(HOSTILE)("%j stays text", (text) => {
    const { container } = render(<Markdown text={text} />);
    for (const element of container.querySelectorAll("*")) {
      expect(ALLOWED).toContain(element.tagName.toUpperCase());
      for (const { name } of element.attributes) expect(name.startsWith("on")).toBe(false);
      expect(element.hasAttribute("style")).toBe(false);
      expect(element.hasAttribute("src")).toBe(false);
    }
    for (const link of container.querySelectorAll("a")) {
      expect(link.getAttribute("href")).toMatch(/^(https?:\/\/|mailto:)/);
      expect(link.getAttribute("rel")).toContain("noopener");
      expect(link.getAttribute("target")).toBe("_blank");
    }
    for (const input of container.querySelectorAll("input")) {
      expect(input.getAttribute("type")).toBe("checkbox");
      expect(input.disabled).toBe(true);
    }
    expect((window as { taken?: boolean }).taken).toBeUndefined();
  });
});

describe("a link", () => {
  it("leads to the web and to mail, and nowhere else", () => {
    expect(safeAddress("https://example.org/a")).toBe("https://example.org/a");
    expect(safeAddress("mailto:ada@example.org")).toBe("mailto:ada@example.org");
    for (const address of ["javascript:1", " javascript:1", "/settings", "#top", "ftp://x", ""])
      expect(safeAddress(address)).toBeUndefined();
  });
});

describe("an image from elsewhere", () => {
  it("is offered as a link and not fetched", () => {
    const { container, getByRole } = render(<Markdown text="![a chart](https://example.org/chart.png)" />);
    expect(container.querySelector("img")).toBeNull();
    expect(getByRole("link").getAttribute("href")).toBe("https://example.org/chart.png");
  });
});

describe("ordinary text", () => {
  it("becomes headings, lists, tables and code", () => {
    const text = "# Title\n\n- one\n- two\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```python\nprint(1)\n```";
    const { container } = render(<Markdown text={text} />);
    expect(container.querySelector("h1")?.textContent).toBe("Title");
    expect(container.querySelectorAll("li")).toHaveLength(2);
    expect(container.querySelectorAll("td")).toHaveLength(2);
    expect(container.querySelector("pre")?.textContent).toContain("print(1)");
  });
});
