// Removes a plugin. Its data is kept for a later installation, unless it is deleted too.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Plugin } from "../../api/types";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/Feedback";
import { useSave } from "../../lib/useSave";
import { PLUGIN_KEYS } from "./queryKeys";

export function RemovePlugin({ plugin }: { plugin: Plugin }) {
  const { t } = useTranslation();
  const [confirming, setConfirming] = useState(false);
  const close = () => setConfirming(false);
  return (
    <>
      <Button small weight="danger" onClick={() => setConfirming(true)}>
        {t("common.remove")}
      </Button>
      <Dialog open={confirming} title={t("plugins.removeTitle", { name: plugin.id })} onClose={close}>
        <Question plugin={plugin} onDone={close} />
      </Dialog>
    </>
  );
}

function Question({ plugin, onDone }: { plugin: Plugin; onDone: () => void }) {
  const { t } = useTranslation();
  const [withData, setWithData] = useState(false);
  const [author = "", name = ""] = plugin.id.split("/");
  const removing = useSave(
    () =>
      answer(
        api.DELETE("/api/v1/plugins/{author}/{name}", {
          params: { path: { author, name }, query: { data: withData ? "delete" : "keep" } },
        }),
      ),
    PLUGIN_KEYS,
    onDone,
  );
  return (
    <div className="space-y-5">
      <p className="text-quiet">{t("plugins.removeText")}</p>
      <label className="flex cursor-pointer items-start gap-2.5">
        <input
          type="checkbox"
          className="mt-0.5 size-4 shrink-0 accent-(--accent)"
          checked={withData}
          onChange={(event) => setWithData(event.target.checked)}
        />
        <span>
          <span className="block text-sm">{t("plugins.removeData")}</span>
          <span className="text-xs text-quiet">{t("plugins.removeDataHint")}</span>
        </span>
      </label>
      <ErrorMessage error={removing.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>{t("common.cancel")}</Button>
        <Button weight="danger" busy={removing.isPending} onClick={() => removing.mutate(undefined)}>
          {t("common.remove")}
        </Button>
      </div>
    </div>
  );
}
