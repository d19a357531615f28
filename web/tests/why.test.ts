// A trail in the language of the page, and in the Host's words where the page has none.
import i18next from "i18next";
import { afterEach, describe, expect, it } from "vitest";

import { whyWords } from "../src/features/runs/whyWords";
import { changeLanguage } from "../src/lib/language";

const sent = {
  code: "delivery_sent",
  values: { kind: "message", what: "A reply", where: "onebot11", state: "sent", reason: "" },
};
const twice = { code: "twice", values: {} };

afterEach(() => changeLanguage("en"));

describe("a step of a trail", () => {
  it("is said in English", () => {
    expect(whyWords({ text: "", sentences: [sent, twice] }, i18next)).toBe(
      "A reply was sent to onebot11. It may have been sent twice: it is unknown whether the first attempt arrived.",
    );
  });

  it("is said in Chinese, kinds of things too", async () => {
    await changeLanguage("zh-Hans");
    expect(whyWords({ text: "", sentences: [sent] }, i18next)).toBe("回复已发送到 onebot11。");
  });

  it("names runners, platforms and kinds of events in words, and no ids", () => {
    const id = "01a1ed74-3a62-7049-80ce-ba243fd98430";
    const runner = "plugin:parlour/local-agent/default";
    const names = new Map([
      [runner, "Local agent"],
      ["onebot11", "OneBot 11 (QQ)"],
    ]);
    const received = {
      code: "received_by_bot",
      values: { event_type: "message.received", source: "onebot11", who: "Ida", bot: "'Desk'", seq: 7 },
    };
    const begun = {
      code: "run_by",
      values: { run: id, attempt: 1, agent: "'Librarian'", runner, route: "route '*'", before: "" },
    };
    const granted = {
      code: "granted",
      values: { names: "artifact_create, history_page, 2 models, 1 knowledge bases" },
    };
    const said = whyWords({ text: "", sentences: [received, begun, granted] }, i18next, names);
    expect(said).toBe(
      "Message from Ida received via OneBot 11 (QQ), bot 'Desk' (event 7). Run started (attempt 1) with agent 'Librarian' and runner Local agent (route '*'). Resources granted: Models (2), Knowledge bases (1).",
    );
  });

  it("stays as it is where there is a sentence that the page does not know", () => {
    expect(
      whyWords({ text: "The Host says more.", sentences: [sent, { code: "unheard_of", values: {} }] }, i18next),
    ).toBe("The Host says more.");
    expect(whyWords({ text: "From an older Host.", sentences: [] }, i18next)).toBe("From an older Host.");
  });

  it("shows what others wrote as it is", () => {
    const failed = { code: "settled_failed", values: { outcome: "failed", reason: ": <b>$t(nav.home)</b> {{x}}" } };
    expect(whyWords({ text: "", sentences: [failed] }, i18next)).toBe("Not answered: <b>$t(nav.home)</b> {{x}}.");
  });
});
