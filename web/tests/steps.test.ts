// The steps of a dry run, in both languages of the page.
import i18next from "i18next";
import { afterEach, describe, expect, it } from "vitest";

import type { DryRunStep } from "../src/api/types";
import { stepWords } from "../src/features/bots/stepWords";
import { changeLanguage } from "../src/lib/language";

const passed: DryRunStep = {
  kind: "route",
  name: "message.*",
  code: "groups",
  values: { group: "42" },
  text: "as the Host says it",
};
const nearest: DryRunStep = { kind: "default", name: "workspace", code: "takes", values: {}, text: "" };
const last: DryRunStep = { kind: "outcome", name: "", code: "outcome_answers", values: { agent: "Ann" }, text: "" };

afterEach(() => changeLanguage("en"));

describe("a step of a dry run", () => {
  it("is said in English", () => {
    expect(stepWords(passed, i18next)).toBe("Route All message events: group 42 is not in the list");
    expect(stepWords(last, i18next)).toBe("Agent “Ann” replies");
  });

  it("is said in Chinese", async () => {
    await changeLanguage("zh-Hans");
    expect(stepWords(passed, i18next)).toBe("路由 所有消息事件：群 42 不在列表中");
    expect(stepWords(nearest, i18next)).toBe("默认智能体（工作区）：匹配");
    expect(stepWords(last, i18next)).toBe("由智能体“Ann”回复");
  });

  it("shows what others wrote as it is", () => {
    const odd = "<b>$t(nav.home)</b> {{said}}";
    expect(stepWords({ ...passed, name: odd, values: { group: odd } }, i18next)).toBe(
      `Route ${odd}: group ${odd} is not in the list`,
    );
  });

  it("that the page has no words for is said as the Host says it", () => {
    expect(stepWords({ ...passed, code: "unheard_of" }, i18next)).toBe("as the Host says it");
  });
});
