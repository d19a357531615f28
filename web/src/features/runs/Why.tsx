// The trail of an event: why it was handled as it was, step by step.
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { ErrorMessage, Loading } from "../../components/Feedback";
import { formatTime, localized } from "../../lib/format";
import * as agentQueries from "../agents/queries";
import * as botQueries from "../bots/queries";
import * as runQueries from "./queries";
import { type Names, whyWords } from "./whyWords";

/** `name` is an event, a run, or a message on its platform. */
export function Why({ name }: { name: string }) {
  const { i18n } = useTranslation();
  const trail = useQuery(runQueries.why(name));
  const names = useNames();
  if (trail.error) return <ErrorMessage error={trail.error} />;
  if (!trail.data) return <Loading />;
  return (
    <ol className="space-y-2.5">
      {trail.data.steps.map((step, index) => (
        <li key={index} className="flex gap-4 text-sm max-sm:flex-col max-sm:gap-0">
          <time className="w-36 shrink-0 text-quiet tabular-nums">{formatTime(step.at, i18n.language)}</time>
          <span className="min-w-0 wrap-anywhere">{whyWords(step, i18n, names)}</span>
        </li>
      ))}
    </ol>
  );
}

function useNames(): Names {
  const { i18n } = useTranslation();
  const runners = useQuery(agentQueries.runners).data ?? [];
  const adapters = useQuery(botQueries.adapters).data ?? [];
  return new Map([
    ...runners.map((runner) => [runner.id, localized(runner.label, i18n.language)] as const),
    ...adapters.map((adapter) => [adapter.name, localized(adapter.label, i18n.language)] as const),
  ]);
}
