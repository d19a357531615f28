// The form that a runner declares: every kind of item is drawn, changes its value, and is hidden by `show_if`.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, it } from "vitest";

import type { Fields, FormItem, FormType, Model } from "../src/api/types";
import { type Choices, CONTROLS } from "../src/components/form/controls";
import { SchemaForm } from "../src/components/form/SchemaForm";
import { changed, hasChoices, isShown, newForm, ofForm, prefilled } from "../src/components/form/values";
import { rangeProblem } from "../src/components/NumberInput";

const model = (model_id: string, type: Model["type"]): Model => ({
  model_id,
  type,
  name: `The ${model_id}`,
  provider_id: "p",
  context_window: 1,
  max_output_tokens: 1,
  abilities: [],
  prices: null,
  parameters: {},
});
const CHOICES: Choices = {
  models: [model("big", "llm"), model("small", "llm"), model("order", "rerank"), model("vector", "embedding")],
  tools: [
    { value: "time.now", label: "time.now" },
    { value: "web.fetch", label: "web.fetch" },
  ],
  knowledgeBases: [{ value: "kb", label: "Handbook" }],
  skills: [{ value: "skill", label: "Skill" }],
};

function item(type: FormType, more: Partial<FormItem> = {}): FormItem {
  return {
    name: "x",
    label: { en_US: "The field", zh_Hans: "字段" },
    description: null,
    type,
    required: false,
    default: null,
    options: null,
    show_if: null,
    display: false,
    ...more,
  };
}

function Harness({
  items,
  first,
  seen,
  secretsSet,
}: {
  items: FormItem[];
  first: Fields;
  seen: (values: Fields) => void;
  secretsSet?: string[];
}) {
  const [values, setValues] = useState(first);
  const change = (next: Fields) => {
    setValues(next);
    seen(next);
  };
  return (
    <QueryClientProvider client={new QueryClient()}>
      <SchemaForm items={items} values={values} onChange={change} choices={CHOICES} secretsSet={secretsSet} />
    </QueryClientProvider>
  );
}

function draw(items: FormItem[], first: Fields = {}, secretsSet?: string[]): () => Fields {
  let last = first;
  render(<Harness items={items} first={first} secretsSet={secretsSet} seen={(values) => (last = values)} />);
  return () => last;
}

const type = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });

describe("every kind of item", () => {
  it.each(Object.keys(CONTROLS) as FormType[])("%s is drawn under its label", (kind) => {
    draw([item(kind, { options: [{ value: "a", label: { en_US: "An a" } }] })]);
    expect(screen.getByText("The field")).toBeTruthy();
    expect(document.querySelector("input, textarea, select, button, [role=group]")).toBeTruthy();
  });

  it.each(["string", "text", "prompt-editor", "secret"] as FormType[])(
    "%s holds text, and nothing when it is emptied",
    (kind) => {
      const values = draw([item(kind)]);
      type("The field", "hello");
      expect(values()).toEqual({ x: "hello" });
      type("The field", "");
      expect(values()).toEqual({});
    },
  );

  it.each(["integer", "number"] as FormType[])("%s holds a number", (kind) => {
    const values = draw([item(kind)]);
    type("The field", "7");
    expect(values()).toEqual({ x: 7 });
  });

  it("a boolean is switched", () => {
    const values = draw([item("boolean")], { x: false });
    fireEvent.click(screen.getByRole("switch"));
    expect(values()).toEqual({ x: true });
  });

  it("a select offers its options by their words", () => {
    const values = draw([
      item("select", {
        options: [
          { value: "a", label: { en_US: "First" } },
          { value: "b", label: null },
        ],
      }),
    ]);
    expect(screen.getByRole("option", { name: "First" })).toBeTruthy();
    type("The field", "b");
    expect(values()).toEqual({ x: "b" });
  });

  it("a multi-select holds those that are checked", () => {
    const values = draw(
      [
        item("multi-select", {
          options: [
            { value: "a", label: null },
            { value: "b", label: null },
          ],
        }),
      ],
      { x: ["a"] },
    );
    fireEvent.click(screen.getByLabelText("b"));
    expect(values()).toEqual({ x: ["a", "b"] });
  });

  it("invalid JSON is reported, and the stored value stays", () => {
    const values = draw([item("json")], { x: { a: 1 } });
    type("The field", "{");
    expect(screen.getByText("This is not valid JSON.")).toBeTruthy();
    expect(values()).toEqual({ x: { a: 1 } });
    expect((screen.getByLabelText("The field") as HTMLTextAreaElement).validationMessage).not.toBe("");
    type("The field", '{"a": 2}');
    expect(values()).toEqual({ x: { a: 2 } });
  });

  it("a prompt of several messages keeps their roles", () => {
    const values = draw([item("prompt-editor")], { x: [{ role: "system", content: "Be brief." }] });
    fireEvent.click(screen.getByText("Add message"));
    fireEvent.change(screen.getAllByLabelText("Content")[1]!, { target: { value: "Hello" } });
    expect(values()).toEqual({
      x: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
    });
  });

  it.each([
    ["llm-model-selector", "big"],
    ["rerank-model-selector", "order"],
    ["embedding-model-selector", "vector"],
  ] as [FormType, string][])("%s offers models of its own kind only", (kind, id) => {
    const values = draw([item(kind)]);
    const offered = screen.getAllByRole("option").map((option) => (option as HTMLOptionElement).value);
    expect(offered).toContain(id);
    expect(offered.filter(Boolean)).toHaveLength(kind === "llm-model-selector" ? 2 : 1);
    type("The field", id);
    expect(values()).toEqual({ x: id });
  });

  it("a model with fallbacks keeps their order", () => {
    const values = draw([item("model-fallback-selector")]);
    type("The field", "big");
    type("Add a fallback model", "small");
    expect(values()).toEqual({ x: { primary: "big", fallbacks: ["small"] } });
    type("The field", "small");
    expect(values()).toEqual({ x: { primary: "small", fallbacks: [] } });
  });

  it.each([
    ["tool-multi-selector", "time.now", "time.now"],
    ["knowledge-base-multi-selector", "Handbook", "kb"],
    ["skill-multi-selector", "Skill", "skill"],
  ] as [FormType, string, string][])("%s holds what is checked", (kind, label, value) => {
    const values = draw([item(kind)]);
    fireEvent.click(screen.getByLabelText(label));
    expect(values()).toEqual({ x: [value] });
  });

  it("a selected option that no longer exists can be deselected", () => {
    const values = draw([item("tool-multi-selector")], { x: ["old.tool"] });
    fireEvent.click(screen.getByRole("checkbox", { name: /old\.tool/ }));
    expect(values()).toEqual({ x: [] });
  });

  it("a list of strings has one per line", () => {
    const values = draw([item("array[string]")]);
    type("The field", "one\n\n two ");
    expect(values()).toEqual({ x: ["one", "two"] });
    expect((screen.getByLabelText("The field") as HTMLTextAreaElement).value).toBe("one\n\n two ");
  });

  it("a list of strings follows a change of the form from outside", () => {
    const items = [item("array[string]")];
    const form = (x: string[]) => (
      <SchemaForm items={items} values={{ x }} onChange={() => undefined} choices={CHOICES} />
    );
    const { rerender } = render(form(["old"]));
    rerender(form(["new", "words"]));
    expect((screen.getByLabelText("The field") as HTMLTextAreaElement).value).toBe("new\nwords");
  });

  it("stored files can be removed", () => {
    const values = draw([item("array[file]")], { x: [{ file_key: "k", name: "a.txt" }] });
    fireEvent.click(screen.getByLabelText("Remove"));
    expect(values()).toEqual({ x: [] });
  });

  it("a read-only item is shown and can't be changed", () => {
    draw([item("string", { display: true, default: "https://here/webhook" })]);
    expect(screen.getByText("https://here/webhook").tagName).toBe("OUTPUT");
  });

  it("a secret that is set is not shown", () => {
    draw([item("secret")], {}, ["x"]);
    const input = screen.getByLabelText("The field") as HTMLInputElement;
    expect(input.value).toBe("");
    expect(input.type).toBe("password");
    expect(input.placeholder).toContain("keep");
  });

  it("a stored secret can be removed, and the removal can be undone", () => {
    const values = draw([item("secret")], {}, ["x"]);
    fireEvent.click(screen.getByRole("button", { name: "Remove" }));
    expect(values()).toEqual({ x: "" });
    expect((screen.getByLabelText("The field") as HTMLInputElement).placeholder).toContain("removed");
    fireEvent.click(screen.getByRole("button", { name: "Keep" }));
    expect(values()).toEqual({});
  });

  it("a required secret can't be removed", () => {
    draw([item("secret", { required: true })], {}, ["x"]);
    expect(screen.queryByRole("button", { name: "Remove" })).toBeNull();
  });
});

describe("a required item", () => {
  it.each(["string", "text", "integer", "number", "select", "secret"] as FormType[])(
    "%s prevents saving until it has a value",
    (kind) => {
      draw([item(kind, { required: true, options: [{ value: "a", label: null }] })]);
      expect((document.querySelector("input, textarea, select") as HTMLInputElement).required).toBe(true);
    },
  );

  it("a stored secret need not be entered again", () => {
    draw([item("secret", { required: true })], { x: "********" });
    const input = document.querySelector("input") as HTMLInputElement;
    expect([input.required, input.value]).toEqual([false, ""]);
  });
});

describe("the rules of a form", () => {
  const mode = item("select", { name: "mode", default: "reverse" });
  const port = item("integer", { name: "port", default: 5310, show_if: { mode: "reverse" } });

  it("an item is shown when its condition is met", () => {
    expect(isShown(port, { mode: "reverse" })).toBe(true);
    expect(isShown(port, { mode: "forward" })).toBe(false);
  });

  it("defaults apply to missing values", () => {
    expect(prefilled([mode, port], { port: 1 })).toEqual({ mode: "reverse", port: 1 });
  });

  it("an emptied item is left out", () => {
    expect(changed({ a: 1, b: 2 }, "a", Number.NaN)).toEqual({ b: 2 });
    expect(changed({ a: 1 }, "a", false)).toEqual({ a: false });
  });

  it("values of another runner are not sent", () => {
    expect(ofForm([mode], { mode: "reverse", other: 1 })).toEqual({ mode: "reverse" });
  });
});

describe("a number", () => {
  const limited = item("integer", { minimum: 1, maximum: 64 });
  const field = () => screen.getByLabelText<HTMLInputElement>("The field");

  it("out of its range is refused at the field with a message", () => {
    draw([limited], { x: 5 });
    expect(screen.queryByRole("alert")).toBeNull();
    type("The field", "65");
    expect(screen.getByRole("alert").textContent).toBe("Enter a number from 1 to 64.");
    expect(field().checkValidity()).toBe(false);
    expect(field().getAttribute("aria-invalid")).toBe("true");
    type("The field", "64");
    expect(screen.queryByRole("alert")).toBeNull();
    expect(field().checkValidity()).toBe(true);
  });

  it.each([
    [0.5, { min: 1 }, "form.atLeast"],
    [3, { max: 2 }, "form.atMost"],
    [-1, { min: 0, max: 2 }, "form.between"],
    [1.5, { min: 0, max: 2, whole: true }, "form.whole"],
    [1.5, { min: 0, max: 2 }, undefined],
    [0, { min: 0 }, undefined],
  ])("%s within %o is judged", (value, range, key) => {
    expect(rangeProblem(value, range)?.key).toBe(key);
  });
});

describe("a new form", () => {
  const items = [
    item("model-fallback-selector", { name: "model" }),
    item("llm-model-selector", { name: "second" }),
    item("string", { name: "prompt", default: "Hi" }),
  ];
  const demo = { ...model("demo", "llm"), provider_id: "demo" };

  it("starts with the configured model", () => {
    expect(newForm(items, [demo, model("order", "rerank"), model("big", "llm")])).toEqual({
      model: { primary: "big", fallbacks: [] },
      prompt: "Hi",
    });
  });

  it("starts with the demo model where there is no other, and without one where there is none", () => {
    expect(newForm(items, [demo]).model).toEqual({ primary: "demo", fallbacks: [] });
    expect(newForm(items, [])).toEqual({ prompt: "Hi" });
  });
});

describe("a selector", () => {
  const none = { ...CHOICES, knowledgeBases: [], skills: [], models: [] };

  it("is hidden until it has options", () => {
    expect(hasChoices(item("knowledge-base-multi-selector"), undefined, none)).toBe(false);
    expect(hasChoices(item("skill-multi-selector"), [], none)).toBe(false);
    expect(hasChoices(item("rerank-model-selector"), undefined, none)).toBe(false);
    expect(hasChoices(item("skill-multi-selector"), ["gone"], none)).toBe(true);
    expect(hasChoices(item("knowledge-base-multi-selector"), undefined, CHOICES)).toBe(true);
    expect(hasChoices(item("tool-multi-selector"), undefined, none)).toBe(true);
  });

  it("shows dependent items after a selection", () => {
    const passages = item("integer", { name: "top_k", show_if: { kb: true } });
    expect(isShown(passages, {})).toBe(false);
    expect(isShown(passages, { kb: [] })).toBe(false);
    expect(isShown(passages, { kb: ["handbook"] })).toBe(true);
  });
});
