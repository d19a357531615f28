// The form of an agent: its draft and how to change it, for all fields below it.
import { createContext, useContext } from "react";

import type { Agent, Runner } from "../../api/types";
import type { Choices } from "../../components/form/controls";

export type AgentForm = {
  draft: Agent;
  put: (change: Partial<Agent>) => void;
  disabled: boolean;
  /** The runner of the draft; undefined when its plugin is not installed. */
  runner: Runner | undefined;
  choices: Choices;
};

export const AgentFormContext = createContext<AgentForm | null>(null);

export function useAgentForm(): AgentForm {
  const form = useContext(AgentFormContext);
  if (!form) throw new Error("useAgentForm: there is no AgentFormContext above this component");
  return form;
}
