// A small library that has had Parlour for a while: what there is to be seen on each page.
import { bot, doorkeeper, localAgent, pipeline, until, writtenModel } from "../support/furnish";
import type { Ids } from "../support/pages";
import type { Reply, World } from "../support/world";

const GROUP = 640;
const HOURS = 24;

const SHELVES = `The third shelf on the left, between *Walden* and *The Waves*. Three copies are in:

| Copy | Where | Until |
| --- | --- | --- |
| 1 | Reading room | — |
| 2 | On loan | 3 March |
| 3 | Returned today | — |

To reserve one from a script:

\`\`\`python
await library.reserve("To the Lighthouse", copy=3, days=14)
\`\`\``;

const called = (name: string, given: object): Reply => ({
  seconds: 0.6,
  reasoning: "They want to know how long the loan runs. I should count the days instead of guessing.",
  tool_calls: [{ index: 0, id: "call-1", type: "function", function: { name, arguments: JSON.stringify(given) } }],
});

const QUESTIONS: [name: string, text: string, answer: string][] = [
  ["Ida", "Is the library open on Sunday?", "Yes, from ten to four. The café closes an hour earlier."],
  ["林晚", "你们有《红楼梦》的英文译本吗？", "有的，霍克思的五卷本，在二楼东侧书架。"],
  ["Tomás", "Can I renew my card here?", "You can: bring the old one and an identity card."],
  ["Ida", "How many books may I take at once?", "Ten, and two of them for six weeks."],
  ["周明", "还书箱晚上也能用吗？", "可以，大门左侧的还书箱全天开放。"],
  ["Noor", "Do you have a quiet room for four?", "Room 2 is free from three o'clock. Shall I note it for you?"],
  [
    "Tomás",
    "Which novel should I read after Middlemarch?",
    "Try *Daniel Deronda*: broader, stranger, and just as patient.",
  ],
];

export async function furnish(world: World): Promise<Ids> {
  const agentId = await localAgent(world, "Librarian", { tools: ["calculator.evaluate"] });
  const { botId, account } = await bot(world, "Reading room", agentId, [GROUP]);
  await world.api("PUT", `/bots/${botId}/routes`, routesTo(agentId));
  await answerQuestions(world, account);
  const runId = await talk(world, agentId);
  await askForApproval(world);
  await world.stop();
  await world.writePast({ hours: HOURS, minutes: 13 });
  await world.resume();
  await until(
    "all is well again",
    async () => (await world.api<{ status: { state: string } }>("GET", `/bots/${botId}`)).status.state === "connected",
  );
  return { agentId, botId, runId, pipelineId: await pipeline(world, "Reading desk", agentId) };
}

function routesTo(agent_id: string): object[] {
  const toAgent = { event_type: "message.received", handler_type: "agent", handler_config: { agent_id } };
  return [
    { ...toAgent, priority: 40, filters: { chat_type: "private" }, description: "Whoever writes to the desk" },
    {
      ...toAgent,
      priority: 30,
      filters: { chat_type: "group", mentions_bot: true },
      description: "The reading groups",
    },
    {
      event_type: "group.member_joined",
      priority: 20,
      handler_type: "webhook",
      handler_config: { url: "https://members.example.org/joined" },
    },
    {
      event_type: "message.received",
      priority: 10,
      handler_type: "drop",
      handler_config: {},
      filters: { chat_type: "group" },
    },
  ];
}

async function answerQuestions(world: World, account: number): Promise<void> {
  await world.modelWill(...QUESTIONS.map(([, , answer], at) => ({ pieces: [answer], seconds: 0.2 + (at % 3) * 0.3 })));
  for (const [at, [name, text]] of QUESTIONS.entries()) {
    await world.say(account, text, 11 + at, { name });
    await world.answered(account, at + 1);
  }
}

/** The run that is shown: the model thinks, calls a tool and answers at length. */
async function talk(world: World, agentId: string): Promise<string> {
  await world.modelWill(called("calculator.evaluate", { expression: "14 + 21" }), { pieces: [SHELVES], seconds: 0.9 });
  const event = {
    agent_id: agentId,
    input: { text: "Where do I find To the Lighthouse, and may I keep it for five weeks?" },
  };
  return (await world.api<{ run: { run_id: string } }>("POST", "/events?wait=result", event)).run.run_id;
}

async function askForApproval(world: World): Promise<void> {
  const { account } = await bot(world, "Book club", await doorkeeper(world, "Doorkeeper", 31, 0), [GROUP]);
  await world.say(account, "Somebody is advertising here again", 12, { group: GROUP, name: "林晚" });
  await until(
    "somebody is asked",
    async () => (await world.api<{ items: object[] }>("GET", "/approvals?status=pending")).items.length > 0,
  );
}

/** The messages of the chat in the screenshots. */
export const SAID = "Where do I find To the Lighthouse, and may I keep it for five weeks?";
export const willAnswer = async (world: World) => {
  await writtenModel(world);
  await world.modelWill(called("calculator.evaluate", { expression: "14 + 21" }), { pieces: [SHELVES], seconds: 0.9 });
};
