// Why something came to be as it did, step by step.
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import * as queries from "../../api/queries";
import { ErrorNote, Loading } from "../../components/Notes";
import { moment } from "../../lib/text";
import { whyWords } from "./whyWords";

/** `name` is an event, a run, or a message on its platform. */
export function Why({ name }: { name: string }) {
  const { i18n } = useTranslation();
  const trail = useQuery(queries.why(name));
  if (trail.error) return <ErrorNote error={trail.error} />;
  if (!trail.data) return <Loading />;
  return (
    <ol className="space-y-2.5">
      {trail.data.steps.map((step, index) => (
        <li key={index} className="flex gap-4 text-sm max-sm:flex-col max-sm:gap-0">
          <time className="w-28 shrink-0 text-quiet tabular-nums">{moment(step.at, i18n.language)}</time>
          <span className="min-w-0 break-words">{whyWords(step, i18n)}</span>
        </li>
      ))}
    </ol>
  );
}
