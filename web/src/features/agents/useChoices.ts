// The options of a form's selectors, as the Host has them now.
import { useQuery } from "@tanstack/react-query";

import type { Tool } from "../../api/types";
import type { Choices } from "../../components/form/controls";
import * as modelQueries from "../models/queries";
import * as toolQueries from "../tools/queries";

export function useChoices(): Choices {
  const models = useQuery(modelQueries.models).data ?? [];
  const tools = useQuery(toolQueries.tools).data ?? [];
  const choice = (tool: Tool) => ({
    value: tool.tool_name,
    label: tool.tool_name,
    hint: tool.description ?? undefined,
  });
  return { models, tools: tools.map(choice), knowledgeBases: [], skills: [] };
}
