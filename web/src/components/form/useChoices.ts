// What the selectors of a form select from, as the Host has it now.
import { useQuery } from "@tanstack/react-query";

import * as queries from "../../api/queries";
import type { Tool } from "../../api/types";
import type { Choices } from "./controls";

export function useChoices(): Choices {
  const models = useQuery(queries.models).data ?? [];
  const tools = useQuery(queries.tools).data ?? [];
  const choice = (tool: Tool) => ({
    value: tool.tool_name,
    label: tool.tool_name,
    hint: tool.description ?? undefined,
  });
  return { models, tools: tools.map(choice), knowledgeBases: [], skills: [] };
}
