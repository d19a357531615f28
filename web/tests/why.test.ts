// A trail in the language of the page, and in the Host's words where the page has none.
import i18next from "i18next";
import { afterEach, describe, expect, it } from "vitest";

import { whyWords } from "../src/features/runs/whyWords";
import { changeLanguage } from "../src/lib/language";

const sent = { code: "delivery_sent", values: { kind: "message", what: "A reply", where: "onebot11", state: "sent", reason: "" } };
const twice = { code: "twice", values: {} };

afterEach(() => changeLanguage("en"));

describe("a step of a trail", () => {
  it("is said in English as the Host says it", () => {
    expect(whyWords({ text: "", sentences: [sent, twice] }, i18next)).toBe("A reply was sent to onebot11. It may have been shown twice: whether the first try arrived is not known.");
  });

  it("is said in Chinese, kinds of things too", async () => {
    await changeLanguage("zh-Hans");
    expect(whyWords({ text: "", sentences: [sent] }, i18next)).toBe("回复已发送到 onebot11。");
  });

  it("stays as it is where there is a sentence that the page does not know", () => {
    expect(whyWords({ text: "The Host says more.", sentences: [sent, { code: "unheard_of", values: {} }] }, i18next)).toBe("The Host says more.");
    expect(whyWords({ text: "From an older Host.", sentences: [] }, i18next)).toBe("From an older Host.");
  });

  it("shows what others wrote as it is", () => {
    const failed = { code: "settled_failed", values: { outcome: "failed", reason: ": <b>$t(nav.home)</b> {{x}}" } };
    expect(whyWords({ text: "", sentences: [failed] }, i18next)).toBe("It was not answered: <b>$t(nav.home)</b> {{x}}.");
  });
});
