// The tool calls of a run, collapsed into one line.
import { Check, LoaderCircle, Wrench } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Collapsible } from "../../components/Collapsible";
import { State } from "../../components/Layout";
import type { ToolCall } from "./chatState";

export function ToolCalls({ calls }: { calls: ToolCall[] | undefined }) {
  const { t } = useTranslation();
  if (!calls?.length) return null;
  const busy = calls.some((call) => call.status === "started" || call.status === "running");
  return (
    <Collapsible
      title={
        <span className="flex items-center gap-2">
          {busy ? (
            <LoaderCircle aria-hidden className="size-4 animate-spin" />
          ) : (
            <Wrench aria-hidden className="size-4" />
          )}
          {t("chat.tools", { count: calls.length })}
        </span>
      }
    >
      <ul className="ml-2 space-y-1 border-l border-line pl-4 text-sm">
        {calls.map((call) => (
          <li key={call.id} className="flex items-center gap-2">
            {call.status === "completed" && <Check aria-hidden className="size-4 text-good" />}
            <span className="font-mono">{call.name}</span>
            <State state={call.status} />
          </li>
        ))}
      </ul>
    </Collapsible>
  );
}
