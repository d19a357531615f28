// Shows a conflict: what another user changed, and the choice between both versions.
import { useTranslation } from "react-i18next";

import type { FormItem } from "../api/types";
import { type Difference, same, valueAt } from "../lib/diff";
import { localized } from "../lib/format";
import type { Conflict } from "../lib/useSaveWithConflict";
import { Button } from "./Button";

const LONGEST = 160;

type Props<Thing, Body> = {
  name: string;
  conflict: Conflict<Thing, Body> | null;
  busy: boolean;
  onTheirs: (theirs: Conflict<Thing, Body>["theirs"]) => void;
  onMine: () => void;
  /** The items of the form, for the labels of its fields. */
  items?: FormItem[];
  /** Describes a value where the default description does not fit. */
  words?: (value: unknown) => string;
};

export function ConflictNote<Thing, Body>({
  name,
  conflict,
  busy,
  onTheirs,
  onMine,
  items = [],
  words,
}: Props<Thing, Body>) {
  const { t } = useTranslation();
  const plainWords = usePlainWords();
  if (!conflict) return null;
  return (
    <section
      role="alert"
      aria-label={t("changed.title", { name })}
      className="space-y-3 rounded-control bg-warn-wash px-3.5 py-3 text-sm"
    >
      <p className="font-medium break-words text-warn">{t("changed.title", { name })}</p>
      <ul className="max-h-60 space-y-2 overflow-y-auto">
        {conflict.changes.map((change) => (
          <Change
            key={change.path.join(".")}
            change={change}
            mine={valueAt(conflict.mine, change.path)}
            items={items}
            words={words ?? plainWords}
          />
        ))}
        {conflict.changes.length === 0 && <li>{t("changed.hidden")}</li>}
      </ul>
      <p className="text-quiet">{t("changed.text")}</p>
      <div className="flex flex-wrap gap-2">
        <Button small busy={busy} onClick={onMine}>
          {t("changed.mine")}
        </Button>
        <Button small weight="quiet" onClick={() => onTheirs(conflict.theirs)}>
          {t("changed.theirs")}
        </Button>
      </div>
    </section>
  );
}

function Change({
  change,
  mine,
  items,
  words,
}: {
  change: Difference;
  mine: unknown;
  items: FormItem[];
  words: (value: unknown) => string;
}) {
  const { t } = useTranslation();
  const label = useLabel(items);
  return (
    <li className="break-words">
      <span className="font-medium">{label(change.path)}</span>
      <div>{t("changed.now", { value: words(change.after) })}</div>
      {!same(mine, change.before) && !same(mine, change.after) && (
        <div>{t("changed.yours", { value: words(mine) })}</div>
      )}
    </li>
  );
}

/** Returns the label of a field such as `runner_config.prompt`: of its form item, or else of the page. */
function useLabel(items: FormItem[]): (path: string[]) => string {
  const { t, i18n } = useTranslation();
  return ([first = "", second, ...rest]) => {
    const item = items.find((each) => each.name === second);
    if (item) return [localized(item.label, i18n.language), ...rest].join(": ");
    const label = i18n.exists(`field.${first}`)
      ? t(`field.${first}`)
      : t(`tuning.${first.slice(first.indexOf(".") + 1)}`);
    return [
      label,
      ...[second, ...rest].filter((each) => each !== undefined).map((each) => each.replaceAll("_", " ")),
    ].join(": ");
  };
}

function usePlainWords(): (value: unknown) => string {
  const { t } = useTranslation();
  return (value) => {
    if (value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0))
      return "–";
    if (typeof value === "boolean") return t(value ? "common.yes" : "common.no");
    const flat = Array.isArray(value) && value.every((each) => typeof each !== "object");
    const text = flat ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value);
    return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  };
}
