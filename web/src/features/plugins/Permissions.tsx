// What a plugin may do, in the sentences that the Host gives for it.
import { Check, Minus } from "lucide-react";
import { useTranslation } from "react-i18next";

import type { Plugin } from "../../api/facts";

export function Permissions({ plugin }: { plugin: Plugin }) {
  const { t } = useTranslation();
  const { granted, ungranted } = plugin.permissions.words;
  if (granted.length + ungranted.length === 0) return <p className="text-sm text-quiet">{t("plugins.asksNothing")}</p>;
  return (
    <ul className="space-y-1.5 text-sm">
      {granted.map((each) => (
        <li key={each.key} className="flex gap-2"><Check aria-label={t("plugins.granted")} className="mt-0.5 size-4 shrink-0 text-good" />{each.text ?? each.key}</li>
      ))}
      {ungranted.map((each) => (
        <li key={each.key} className="flex gap-2 text-quiet"><Minus aria-label={t("plugins.ungranted")} className="mt-0.5 size-4 shrink-0" />{each.text ?? each.key}</li>
      ))}
    </ul>
  );
}
