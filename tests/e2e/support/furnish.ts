// Sets up what a test needs before a page is opened: models, agents, bots, users.
import type { Ids } from "./pages";
import type { Person } from "./people";
import type { World } from "./world";

export const LOCAL = "plugin:parlour/local-agent/default";
export const ECHO = "plugin:parlour/echo-agent/default";
export const DOORKEEPER = "plugin:test/doorkeeper-agent/default";

const VISITOR = "plugin:test/visitor-agent/default";

type Page<T> = { items: T[] };
const models = new Map<string, Promise<string>>();

/** The id of the model that says what a test writes; a world has one. */
export function writtenModel(world: World): Promise<string> {
  const known = models.get(world.place.address) ?? makeModel(world);
  models.set(world.place.address, known);
  return known;
}

async function makeModel(world: World): Promise<string> {
  const provider = { name: "House server", kind: "openai", base_url: world.place.model, api_keys: ["key"] };
  const { provider_id } = await world.api<{ provider_id: string }>("POST", "/model-providers", provider);
  const model = {
    provider_id,
    name: "house-large",
    context_window: 128000,
    max_output_tokens: 4096,
    prices: { input: 2, output: 10 },
  };
  return (await world.api<{ model_id: string }>("POST", "/models", model)).model_id;
}

export async function agent(world: World, name: string, runner_id: string, fields: object = {}): Promise<string> {
  await until(`the runner ${runner_id}`, async () =>
    (await world.api<Page<{ id: string }>>("GET", "/runners")).items.some(({ id }) => id === runner_id),
  );
  return (await world.api<{ agent_id: string }>("POST", "/agents", { name, runner_id, runner_config: {}, ...fields }))
    .agent_id;
}

/** An agent that answers with what the written model says. */
export async function localAgent(world: World, name: string, config: object = {}): Promise<string> {
  const model = { primary: await writtenModel(world), fallbacks: [] };
  return agent(world, name, LOCAL, {
    runner_config: { model, prompt: "Be kind.", ...config },
    resource_policy: { skills: [] },
  });
}

/** Creates an agent that wants to remove a member from the group, and has to ask. */
export function doorkeeper(world: World, name: string, who: number, seconds: number): Promise<string> {
  const runner_config = { asks: JSON.stringify(["member.kick", { user_id: String(who) }]), seconds };
  return agent(world, name, DOORKEEPER, { runner_config, approval_policy: { "member.*": { decision: "ask" } } });
}

let visiting: Promise<unknown> | undefined;

/** Creates an agent that returns files, sends messages to other chats once approved, and calls an untrusted tool. */
export async function visitor(world: World, name: string): Promise<string> {
  visiting ??= world.install("visitor_agent.py");
  await visiting;
  return agent(world, name, VISITOR, {
    approval_policy: { "elsewhere/message.send": { decision: "ask", who: { requester: true } } },
  });
}

export type Bot = { botId: string; account: number };
let accounts = 20_000;

/** A bot whose account on QQ is connected, with every message going to the agent. */
export async function bot(world: World, name: string, agentId: string, groups: number[] = []): Promise<Bot> {
  const port = await world.freePort();
  const adapter_config = { mode: "reverse", host: "127.0.0.1", port, access_token: "e2e" };
  const { bot_id } = await world.api<{ bot_id: string }>("POST", "/bots", {
    name,
    adapter: "onebot11",
    adapter_config,
  });
  const route = { event_type: "*", handler_type: "agent", handler_config: { agent_id: agentId } };
  await world.api("PUT", `/bots/${bot_id}/routes`, [route]);
  const account = ++accounts;
  await world.connect(port, account, groups);
  return { botId: bot_id, account };
}

export async function pipeline(world: World, name: string, agent_id: string): Promise<string> {
  return (await world.api<{ pipeline_id: string }>("POST", "/pipelines", { name, agent_id })).pipeline_id;
}

/** An agent, a bot, a pipeline and a run, so that no page is empty. */
export async function somethingEverywhere(world: World, name = "Everywhere"): Promise<Ids> {
  const agentId = await agent(world, name, ECHO);
  const { botId, account } = await bot(world, name, agentId);
  await world.say(account, "Hello", 1);
  await world.answered(account, 1);
  const [run] = (await world.api<Page<{ run_id: string }>>("GET", `/runs?agent_id=${agentId}`)).items;
  return { agentId, botId, runId: run!.run_id, pipelineId: await pipeline(world, `${name} desk`, agentId) };
}

export const person = (world: World, who: Person, role: string) => world.api("POST", "/users", { ...who, role });

/** Asks again until it is so; a minute is more than anything here takes. */
export async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await look())) {
    if (Date.now() > end) throw new Error(`not within a minute: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
