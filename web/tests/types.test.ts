// What the page reads of an answer (types.ts) is what the Host's document says is answered. The compiler is the judge:
// `pnpm check` fails where a Host's answer would not fit. What the document leaves open (the data of results, figures by
// name, manifests with defaults) can't be held against it here.
import { expectTypeOf, it } from "vitest";

import type * as facts from "../src/api/types";
import type { components } from "../src/api/schema";

type Answers = components["schemas"];

it("reads only what is answered", () => {
  expectTypeOf<Answers["Agent"]>().toExtend<facts.Agent>();
  expectTypeOf<Answers["ApiKey"]>().toExtend<facts.ApiKey>();
  expectTypeOf<Answers["ApprovalShown"]>().toExtend<facts.Approval>();
  expectTypeOf<Answers["Bot"]>().toExtend<facts.Bot>();
  expectTypeOf<Answers["Budget"]>().toExtend<facts.Budget>();
  expectTypeOf<Answers["ConversationShown"]>().toExtend<facts.Conversation>();
  expectTypeOf<Answers["DefaultAgent"]>().toExtend<facts.DefaultAgent>();
  expectTypeOf<Answers["Delivery"]>().toExtend<facts.Delivery>();
  expectTypeOf<Answers["Denial"]>().toExtend<facts.Denial>();
  expectTypeOf<Answers["DryRun"]>().toExtend<facts.DryRun>();
  expectTypeOf<Answers["Event"]>().toExtend<facts.EventRecord>();
  expectTypeOf<Answers["Info"]>().toExtend<facts.Info>();
  expectTypeOf<Answers["McpServer"]>().toExtend<facts.McpServer>();
  expectTypeOf<Answers["Model"]>().toExtend<facts.Model>();
  expectTypeOf<Answers["ModelKind"]>().toExtend<facts.ModelKind>();
  expectTypeOf<Answers["ModelTested"]>().toExtend<facts.ModelTest>();
  expectTypeOf<Answers["Plugin"]>().toExtend<facts.Plugin>();
  expectTypeOf<Answers["Provider"]>().toExtend<facts.Provider>();
  expectTypeOf<Answers["Route"]>().toExtend<facts.Route>();
  expectTypeOf<Answers["RunDetail"]>().toExtend<facts.Run>();
  expectTypeOf<Answers["RunListed"]>().toExtend<Omit<facts.Run, "authorization">>();
  expectTypeOf<Answers["RunSide"]>().toExtend<facts.RunSide>();
  expectTypeOf<Answers["SessionShown"]>().toExtend<facts.ChatSession>();
  expectTypeOf<Answers["SettingsShown"]>().toExtend<facts.Settings>();
  expectTypeOf<Answers["SetupState"]>().toExtend<facts.Setup>();
  expectTypeOf<Answers["Trail"]>().toExtend<facts.Why>();
  expectTypeOf<Answers["UsageShown"]>().toExtend<facts.UsageItem>();
  expectTypeOf<Answers["User"]>().toExtend<facts.User>();
});
