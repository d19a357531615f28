// One model call: its prompt, parameters and answer. It is read when it is opened.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import type { Fields, PromptMessage } from "../../api/types";
import { Collapsible } from "../../components/Collapsible";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Badge, Code } from "../../components/Layout";
import * as runQueries from "./queries";

export function ModelCall({ runId, callId }: { runId: string; callId: string }) {
  const { t } = useTranslation();
  const call = useQuery(runQueries.modelCall(runId, callId));
  if (call.error) return <ErrorMessage error={call.error} mild />;
  if (!call.data) return <Loading />;
  const { request, answer, truncated } = call.data;
  const { messages, tools, parameters, ...otherFields } = request as Fields & {
    messages?: PromptMessage[];
    tools?: Fields[];
  };
  return (
    <div className="space-y-4 rounded-card border border-line bg-surface p-4">
      {truncated && <p className="text-sm text-warn">{t("runs.promptCut")}</p>}
      <Section title={t("runs.prompt")}>
        {messages?.map((message, index) => (
          <Said key={index} message={message} />
        ))}
        {isFilled(otherFields) && <Code>{pretty(otherFields)}</Code>}
      </Section>
      <Section title={t("runs.parameters")}>
        {isFilled(parameters) ? (
          <Code>{pretty(parameters)}</Code>
        ) : (
          <p className="text-sm text-quiet">{t("runs.noParameters")}</p>
        )}
      </Section>
      {isFilled(tools) && (
        <Collapsible title={t("runs.toolsOffered", { count: tools?.length ?? 0 })}>
          <Code>{pretty(tools)}</Code>
        </Collapsible>
      )}
      <Section title={t("runs.answer")}>
        <Answered answer={answer} />
      </Section>
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="space-y-2">
      <h3 className="text-sm font-medium">{title}</h3>
      {children}
    </section>
  );
}

function Said({ message }: { message: PromptMessage }) {
  const { role, content, reasoning, tool_calls: calls } = message;
  return (
    <div className="space-y-1">
      <Badge>{role}</Badge>
      {isFilled(reasoning) && (
        <p className="border-l-2 border-line pl-3 text-sm break-words whitespace-pre-wrap text-quiet">{reasoning}</p>
      )}
      {isFilled(content) && <Written value={content} />}
      {isFilled(calls) && <Code>{pretty(calls)}</Code>}
    </div>
  );
}

function Answered({ answer }: { answer: Fields }) {
  const { t } = useTranslation();
  const { text, reasoning, tool_calls: calls, error, finish_reason: reason, ...rest } = answer;
  return (
    <>
      {isFilled(reasoning) && (
        <p className="border-l-2 border-line pl-3 text-sm break-words whitespace-pre-wrap text-quiet">
          {String(reasoning)}
        </p>
      )}
      {isFilled(text) && <Written value={text} />}
      {isFilled(calls) && <Code>{pretty(calls)}</Code>}
      {isFilled(rest) && <Code>{pretty(rest)}</Code>}
      {isFilled(error) && <p className="text-sm break-words text-bad">{String(error)}</p>}
      {isFilled(reason) && <p className="text-sm text-quiet">{t("runs.finishReason", { reason: String(reason) })}</p>}
    </>
  );
}

/** Wraps text, since prompts are long; other values are code. */
function Written({ value }: { value: unknown }) {
  if (typeof value !== "string") return <Code>{pretty(value)}</Code>;
  return (
    <pre
      tabIndex={0}
      className="max-h-96 overflow-y-auto rounded-control bg-raised p-3 font-mono text-xs leading-relaxed wrap-anywhere whitespace-pre-wrap"
    >
      {value}
    </pre>
  );
}

const isFilled = (value: unknown): boolean =>
  value !== undefined && value !== null && !["", "{}", "[]", '""'].includes(JSON.stringify(value));

/** Returns a text unchanged and any other value as JSON. */
function pretty(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
