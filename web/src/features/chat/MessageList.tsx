// The messages of a conversation. A line that did not change is not rendered again while another one is written.
import { memo } from "react";
import { useTranslation } from "react-i18next";

import type { Run } from "../../api/types";
import { Collapsible } from "../../components/Collapsible";
import { Markdown } from "../../components/Markdown";
import { classes } from "../../lib/classes";
import type { Line, ToolCall } from "./chatState";
import { Citations } from "./Citations";
import { Files } from "./Files";
import { Notice } from "./Notices";
import { RunDetails } from "./RunDetails";
import { ToolCalls } from "./ToolCalls";

/** `runs` are the finished runs by id: their usage is shown below the last line of each. */
export function MessageList({
  lines,
  runs,
  tools,
}: {
  lines: Line[];
  runs: Map<string, Run>;
  tools: Record<string, ToolCall[]>;
}) {
  return lines.map((line, index) => {
    const last = line.role !== "you" && lines[index + 1]?.runId !== line.runId;
    const isFirst = line.role === "agent" && lines[index - 1]?.runId !== line.runId;
    const run = last && line.runId ? runs.get(line.runId) : undefined;
    return (
      <div key={line.key} className="space-y-2">
        {isFirst && !run && line.runId && <ToolCalls calls={tools[line.runId]} />}
        <Message line={line} />
        {run && <RunDetails run={run} />}
      </div>
    );
  });
}

export const Message = memo(
  function Message({ line }: { line: Line }) {
    const { t } = useTranslation();
    if (line.role === "notice") return <Notice notice={{ seq: 0, text: line.text, tone: "calm" }} />;
    if (line.role === "agent") {
      return (
        <article aria-label={t("chat.agent")} className="space-y-2">
          {line.thinking && <Reasoning text={line.thinking} />}
          {line.text && <Markdown text={line.text} />}
          {line.citations && <Citations citations={line.citations} text={line.text} />}
          <Files files={line.files} />
        </article>
      );
    }
    return (
      <article aria-label={t("chat.you")} className="ml-auto flex w-fit max-w-[85%] flex-col items-end gap-2">
        {line.text && (
          <p
            className={classes(
              "rounded-2xl rounded-br-md bg-accent-wash px-4 py-2.5 break-words whitespace-pre-wrap",
              line.isPending && "text-quiet",
            )}
          >
            {line.text}
          </p>
        )}
        <Files files={line.files} />
      </article>
    );
  },
  (previous, next) => JSON.stringify(previous.line) === JSON.stringify(next.line),
);

export function Reasoning({ text, busy }: { text: string; busy?: boolean }) {
  const { t } = useTranslation();
  return (
    <Collapsible
      title={<span className={classes(busy && "animate-pulse")}>{t(busy ? "chat.thinks" : "chat.thoughts")}</span>}
    >
      <p className="ml-2 border-l-2 border-line pl-4 text-sm break-words whitespace-pre-wrap text-quiet">{text}</p>
    </Collapsible>
  );
}
