// The doors through which clients of other standards reach an agent, and their addresses.
import type { Agent } from "../../api/types";

export type Door = Agent["published"][number];

const PATHS: Record<Door, (agentId: string) => string> = {
  openai: () => "/v1",
  mcp: () => "/api/v1/mcp",
  a2a: (agentId) => `/a2a/${agentId}`,
  agui: (agentId) => `/agui/${agentId}`,
};

export const DOORS = Object.keys(PATHS) as Door[];

/** The address that an operator gives to a client. */
export const doorAddress = (door: Door, origin: string, agentId: string) => `${origin}${PATHS[door](agentId)}`;
