// The plan of a coding agent, as it last said it.
import { CircleCheck, CircleDashed, LoaderCircle } from "lucide-react";
import { useTranslation } from "react-i18next";

import { classes } from "../../lib/classes";
import type { PlanEntry } from "./timelineModel";

const ICONS = { completed: CircleCheck, in_progress: LoaderCircle, pending: CircleDashed };

export function Plan({ entries }: { entries: PlanEntry[] }) {
  const { t } = useTranslation();
  return (
    <ol className="mt-1 space-y-1 text-sm">
      {entries.map((entry, index) => {
        const Icon = ICONS[entry.status];
        return (
          <li key={index} className="flex items-start gap-2">
            <Icon
              aria-label={t(`plan.${entry.status}`)}
              className={classes("mt-0.5 size-4 shrink-0", entry.status === "completed" ? "text-good" : "text-quiet")}
            />
            <span className={classes("break-words", entry.status === "completed" && "text-quiet")}>
              {entry.content}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
