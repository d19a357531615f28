// The permissions of a plugin in words, and those that it requested and that can be granted or revoked.
import { Check, Minus } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { PermissionWords, Plugin } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { CheckList } from "../../components/form/lists";
import { useSave } from "../../lib/useSave";
import { choicesOf, namesOf } from "./grants";
import { PLUGIN_KEYS } from "./queryKeys";
import { useGrantWords } from "./useGrantWords";

export function Permissions({ plugin }: { plugin: Plugin }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const [changing, setChanging] = useState(false);
  const { granted, ungranted } = plugin.permissions.words;
  if (granted.length + ungranted.length === 0) return <p className="text-sm text-quiet">{t("plugins.asksNothing")}</p>;
  if (changing) return <Change plugin={plugin} onDone={() => setChanging(false)} />;
  return (
    <div className="space-y-3">
      <ul className="space-y-1.5 text-sm">
        {granted.map((each) => (
          <Sentence key={`granted-${each.key}`} told={each} granted />
        ))}
        {ungranted.map((each) => (
          <Sentence key={`ungranted-${each.key}`} told={each} />
        ))}
      </ul>
      {edit && namesOf(plugin.permissions.asked).length > 0 && (
        <Button small onClick={() => setChanging(true)}>
          {t("plugins.changeGrants")}
        </Button>
      )}
    </div>
  );
}

function Sentence({ told, granted }: { told: PermissionWords; granted?: boolean }) {
  const { t } = useTranslation();
  const grantWords = useGrantWords();
  const sentence = grantWords(told.key, told.values, told.text);
  if (granted)
    return (
      <li className="flex gap-2">
        <Check aria-label={t("plugins.granted")} className="mt-0.5 size-4 shrink-0 text-good" />
        {sentence}
      </li>
    );
  return (
    <li className="flex gap-2 text-quiet">
      <Minus aria-label={t("plugins.ungranted")} className="mt-0.5 size-4 shrink-0" />
      {sentence}
    </li>
  );
}

function Change({ plugin, onDone }: { plugin: Plugin; onDone: () => void }) {
  const { t } = useTranslation();
  const grantWords = useGrantWords();
  const [granted, setGranted] = useState(() =>
    namesOf(plugin.permissions.granted).filter((name) => namesOf(plugin.permissions.asked).includes(name)),
  );
  const [author = "", name = ""] = plugin.id.split("/");
  const saving = useSave(
    () => answer(api.PUT("/api/v1/plugins/{author}/{name}", { params: { path: { author, name } }, body: { granted } })),
    PLUGIN_KEYS,
    onDone,
  );
  const options = choicesOf(plugin.permissions.asked, (grant) => grantWords(grant.word, grant.values, grant.name));
  return (
    <div className="space-y-3">
      <CheckList
        whole
        control={{ id: `grants-${plugin.id}` }}
        options={options}
        value={granted}
        onChange={setGranted}
      />
      <p className="text-sm text-quiet">{t("plugins.changeHint")}</p>
      <ErrorMessage error={saving.error} />
      <div className="flex gap-2">
        <Button small weight="primary" busy={saving.isPending} onClick={() => saving.mutate(undefined)}>
          {t("common.save")}
        </Button>
        <Button small weight="quiet" onClick={onDone}>
          {t("common.cancel")}
        </Button>
      </div>
    </div>
  );
}
