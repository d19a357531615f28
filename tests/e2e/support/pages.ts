// Every page there is: its name, and where it is once something is there to be seen.
export type Ids = { agentId: string; botId: string; runId: string; pipelineId: string };

export const PAGES: [name: string, path: (ids: Ids) => string][] = [
  ["home", () => "/"],
  ["welcome", () => "/welcome"],
  ["chat", ({ agentId }) => `/chat/${agentId}`],
  ["bots", () => "/bots"],
  ["new-bot", () => "/bots/new"],
  ["bot", ({ botId }) => `/bots/${botId}`],
  ["agents", () => "/agents"],
  ["new-agent", () => "/agents/new"],
  ["agent", ({ agentId }) => `/agents/${agentId}`],
  ["pipelines", () => "/pipelines"],
  ["pipeline", ({ pipelineId }) => `/pipelines/${pipelineId}`],
  ["runs", () => "/runs"],
  ["run", ({ runId }) => `/runs/${runId}`],
  ["approvals", () => "/approvals"],
  ["models", () => "/models"],
  ["knowledge", () => "/knowledge"],
  ["tools", () => "/tools"],
  ["box", () => "/box"],
  ["workers", () => "/workers"],
  ["hosts", () => "/hosts"],
  ["skills", () => "/skills"],
  ["plugins", () => "/plugins"],
  ["settings", () => "/settings"],
];
