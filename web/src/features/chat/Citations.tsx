// The sources of an answer: each opens its passage.
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { Citation } from "./chatState";

export function Citations({ citations, text }: { citations: Citation[]; text: string }) {
  const { t } = useTranslation();
  const cited = citations.filter(({ number }) => text.includes(`[${number}]`));
  if (cited.length === 0) return null;
  return (
    <section aria-label={t("chat.sources")} className="text-sm text-quiet">
      <ol className="flex flex-wrap gap-x-4 gap-y-1">
        {cited.map((citation) => (
          <li key={citation.number} className="min-w-0 wrap-anywhere">
            [{citation.number}] <Source citation={citation} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Source({ citation }: { citation: Citation }) {
  const { t } = useTranslation();
  const { kb_id, file_id, chunk_id, file_name, page } = citation;
  const name = page ? `${file_name}, ${t("knowledge.page", { page })}` : file_name;
  if (!file_id) return name;
  return (
    <Link
      to="/knowledge/$kbId/files/$fileId"
      params={{ kbId: kb_id, fileId: file_id }}
      search={{ chunk: chunk_id }}
      className="text-accent hover:underline"
    >
      {name}
    </Link>
  );
}
