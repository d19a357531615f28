// The result of testing an MCP server: its tools, or why it can't be reached.
import { useTranslation } from "react-i18next";

import type { McpStatus } from "../../api/types";
import { ErrorMessage } from "../../components/Feedback";
import { works } from "./server";

export function TestResult({ status }: { status: McpStatus }) {
  const { t } = useTranslation();
  if (!works(status)) return <ErrorMessage error={new Error(status.last_error ?? t("tools.silent"))} />;
  const names = status.tools.map((tool) => tool.name).join(", ");
  return (
    <div role="status" className="space-y-1 rounded-control bg-good-wash px-3.5 py-2.5 text-sm text-good">
      <p>
        {t("tools.works", {
          name: [status.server.name, status.server.version].filter(Boolean).join(" "),
          count: status.tools.length,
        })}
      </p>
      {names && <p className="break-words opacity-90">{names}</p>}
      {status.left_out.map((sentence) => (
        <p key={sentence} className="text-warn">
          {sentence}
        </p>
      ))}
    </div>
  );
}
