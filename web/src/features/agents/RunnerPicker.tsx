// The runner of an agent: one of those that plugins provide.
import { useTranslation } from "react-i18next";

import type { Runner } from "../../api/types";
import { State } from "../../components/Layout";
import { classes } from "../../lib/classes";
import { localized } from "../../lib/format";

export function RunnerPicker({
  runners,
  chosen,
  onChoose,
}: {
  runners: Runner[];
  chosen: string;
  onChoose: (id: string) => void;
}) {
  const { t, i18n } = useTranslation();
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">{t("agents.runner")}</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        {runners.map((runner) => (
          <label
            key={runner.id}
            className={classes(
              "cursor-pointer rounded-card border p-4 has-focus-visible:outline-2 has-focus-visible:outline-accent",
              runner.id === chosen ? "border-accent bg-accent-wash" : "border-line hover:bg-raised",
            )}
          >
            <input
              type="radio"
              name="runner"
              className="sr-only"
              checked={runner.id === chosen}
              onChange={() => onChoose(runner.id)}
            />
            <span className="flex flex-wrap items-center justify-between gap-x-2 gap-y-1 font-medium">
              <span className="min-w-0 wrap-anywhere">{localized(runner.label, i18n.language)}</span>
              <State state={runner.plugin.status} />
            </span>
            <span className="mt-1 block text-sm text-quiet">{localized(runner.description, i18n.language)}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
