// The tools by their source, each with its parameters.
import { useTranslation } from "react-i18next";

import type { Tool } from "../../api/types";
import { Collapsible } from "../../components/Collapsible";
import { Badge, Code } from "../../components/Layout";

const SOURCES = ["native", "plugin", "mcp"];

export function ToolList({ tools }: { tools: Tool[] }) {
  const { t } = useTranslation();
  const groups = [...new Set([...SOURCES, ...tools.map((tool) => tool.source)])];
  return groups.map((source) => {
    const sourceTools = tools.filter((tool) => tool.source === source);
    if (sourceTools.length === 0) return null;
    return (
      <section key={source} className="space-y-3">
        <h2 className="font-semibold">{t(`toolSource.${source}`)}</h2>
        <ul className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface shadow-card">
          {sourceTools.map((tool) => (
            <ToolRow key={tool.tool_name} tool={tool} />
          ))}
        </ul>
      </section>
    );
  });
}

function ToolRow({ tool }: { tool: Tool }) {
  const { t } = useTranslation();
  return (
    <li className="px-5 py-3.5">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-mono text-sm font-medium break-all">{tool.tool_name}</span>
        {tool.read_only ? (
          <Badge tone="good">{t("tools.readOnly")}</Badge>
        ) : (
          <Badge tone="warn">{t("tools.changes")}</Badge>
        )}
      </div>
      <p className="mt-0.5 text-sm break-words text-quiet">{tool.description}</p>
      <Collapsible title={t("tools.takes")}>
        <Code>{JSON.stringify(tool.parameters_schema, null, 2)}</Code>
      </Collapsible>
    </li>
  );
}
