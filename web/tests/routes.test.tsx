// Routes while they are edited: order, summaries of conditions, requests, and the example of a dry run.
import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import { Problem } from "../src/api/problem";
import type { Route } from "../src/api/types";
import { CONDITION_CONTROLS } from "../src/features/bots/conditionControls";
import { CONDITIONS, initialValue, summaries, textOf, valueOf, withoutEmpty } from "../src/features/bots/conditions";
import { handedTo } from "../src/features/bots/HandlerFields";
import { drafted, fresh, numbered, problemOf, problemsAt } from "../src/features/bots/route";
import { eventOf, SAMPLE } from "../src/features/bots/sample";
import { moved, placed, useSorting } from "../src/lib/useSorting";

const route = (route_id: string): Route => ({ ...fresh("agent"), route_id, event_type: route_id });

describe("the order of routes", () => {
  it("on the page is the one in which they are tried", () => {
    const [first, second] = numbered(drafted([route("a"), route("b")]));
    expect(first!.priority).toBeGreaterThan(second!.priority);
    expect(first).not.toHaveProperty("key");
  });

  it("is by priority, then by how much is said of the event, then that of the list, as the Host has it", () => {
    const written = ["*", "message.*", "message.received", "platform.onebot11.*", "message.edited"].map(route);
    const urgent = { ...route("group.*"), priority: 5 };
    expect(drafted([...written, urgent]).map(({ key }) => key)).toEqual([
      "group.*",
      "message.received",
      "message.edited",
      "platform.onebot11.*",
      "message.*",
      "*",
    ]);
  });

  it("changes when one is moved, and keeps the others", () => {
    expect(moved(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
    expect(moved(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
  });

  it("changes once the pointer passes the middle of a neighbour", () => {
    const middles = [50, 150, 250];
    expect(placed(1, 100, middles)).toBe(1);
    expect(placed(1, 49, middles)).toBe(0);
    expect(placed(1, 251, middles)).toBe(2);
    expect(placed(2, 900, middles)).toBe(2);
  });

  it("is changed by the arrow keys, up to the ends", () => {
    const seen: [number, number][] = [];
    function List() {
      const sorting = useSorting<HTMLUListElement>(2, (from, to) => seen.push([from, to]));
      return (
        <ul ref={sorting.list}>
          {[0, 1].map((index) => (
            <li key={index}>
              <button {...sorting.handle(index)}>{`handle ${index}`}</button>
            </li>
          ))}
        </ul>
      );
    }
    render(<List />);
    fireEvent.keyDown(screen.getByText("handle 0"), { key: "ArrowUp" });
    fireEvent.keyDown(screen.getByText("handle 0"), { key: "ArrowDown" });
    fireEvent.keyDown(screen.getByText("handle 1"), { key: "ArrowDown" });
    fireEvent.keyDown(screen.getByText("handle 1"), { key: "a" });
    expect(seen).toEqual([[0, 1]]);
  });
});

describe("a route", () => {
  it("that gets another handler keeps its conditions and none of the former settings", () => {
    const before = { ...fresh("agent"), filters: { chat_type: "group" } };
    const after = handedTo(before, "webhook");
    expect(after.filters).toEqual({ chat_type: "group" });
    expect(after.handler_config).not.toHaveProperty("agent_id");
    expect(after.handler_config.retry_count).toBe(3);
  });

  it("shows its errors by its index", () => {
    const fields = [
      { field: "1.handler_config.url", message: "write an address" },
      { field: "12.filters", message: "not this one" },
    ];
    const error = new Problem(422, "invalid_argument", "no", { fields });
    expect(problemsAt(error, 0)).toEqual({});
    expect(problemOf(problemsAt(error, 1), "handler_config")).toBe("write an address");
    expect(problemOf(problemsAt(error, 1), "filters")).toBeUndefined();
  });
});

describe("the conditions of a route", () => {
  it.each(CONDITIONS)("%s begins with something that its control can show", (name) => {
    const Control = CONDITION_CONTROLS[name];
    render(
      <Control control={{ id: "x" }} value={initialValue(name, "UTC")} disabled={false} onChange={() => undefined} />,
    );
    expect(document.querySelector("#x, #x-days")).toBeTruthy();
  });

  it("that say nothing are not sent", () => {
    expect(
      withoutEmpty({
        users: [],
        text_regex: "",
        probability: Number.NaN,
        data: { "": "x" },
        mentions_bot: false,
        groups: ["7"],
      }),
    ).toEqual({
      mentions_bot: false,
      groups: ["7"],
    });
  });

  it("are summarized in a few words, with long lists shortened", () => {
    expect(
      summaries({ mentions_bot: false, users: ["1", "2", "3", "4"], probability: 0.25, chat_type: "group" }),
    ).toEqual([
      { key: "group", values: {} },
      { key: "unmentioned", values: {} },
      { key: "users", values: { names: "1, 2, 3 …" } },
      { key: "probability", values: { percent: "25 %" } },
    ]);
  });

  it.each([
    ["Ann", "Ann"],
    ["7", 7],
    ["true", true],
    ['"7"', "7"],
    ["null", null],
  ])("%s in a field means what it looks like, and is shown so again", (text, value) => {
    expect(valueOf(text)).toEqual(value);
    expect(textOf(value)).toBe(text);
  });
});

describe("an example", () => {
  it("in a private chat says nothing of groups", () => {
    expect(eventOf({ ...SAMPLE, text: "hi", role: "admin" })).toEqual({
      type: "message.received",
      chat_type: "private",
      chat_id: "somebody",
      sender: { id: "somebody" },
      text: "hi",
    });
  });

  it("in a group says who, where, when, and whether the bot is meant", () => {
    const event = eventOf({
      ...SAMPLE,
      group: "7",
      sender: "3",
      role: "admin",
      mentions: true,
      at: "2026-01-02T03:04",
    });
    expect(event).toMatchObject({
      chat_type: "group",
      chat_id: "7",
      group: { id: "7" },
      mentions_bot: true,
      role: "admin",
      sender: { id: "3" },
    });
    expect(event.timestamp).toBe(new Date("2026-01-02T03:04").getTime());
  });
});
