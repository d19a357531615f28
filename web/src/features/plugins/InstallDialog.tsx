// Installs from a folder, a zip or an address. What a plugin asks for is shown before it gets it.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, upload } from "../../api/client";
import type { Plugin } from "../../api/facts";
import { Problem } from "../../api/problem";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Field, Input } from "../../components/Field";
import { CheckList } from "../../components/form/lists";
import { ErrorNote } from "../../components/Notes";
import { useSave } from "../../lib/useSave";
import { askedOf } from "./asked";

type Given = { source: string; file: File | null; granted: string[] | null };

function install({ source, file, granted }: Given): Promise<Plugin> {
  if (!file) return answer<Plugin>(api.POST("/api/v1/plugins/install", { body: { source, granted } as never }));
  const form = new FormData();
  form.append("file", file);
  if (granted) form.append("granted", JSON.stringify(granted));
  return upload<Plugin>("/api/v1/plugins/install", form);
}

export function InstallDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const [given, setGiven] = useState<Given>({ source: "", file: null, granted: null });
  const installing = useSave(install, ["plugins", "runners", "tools"], onClose);
  const asked = installing.error instanceof Problem && installing.error.code === "grants_required" ? askedOf(installing.error.details) : null;
  return (
    <Dialog open={open} title={t("plugins.install")} onClose={onClose}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          installing.mutate(asked ? { ...given, granted: given.granted ?? asked.map((each) => each.value) } : given);
        }}
      >
        <Field label={t("plugins.source")} hint={t("plugins.sourceHint")}>
          {(control) => <Input {...control} value={given.source} disabled={!!given.file} required={!given.file} onChange={(event) => setGiven({ ...given, source: event.target.value, granted: null })} />}
        </Field>
        <Field label={t("plugins.zip")}>
          {(control) => <input {...control} type="file" accept=".zip" className="block text-sm" onChange={(event) => setGiven({ ...given, file: event.target.files?.[0] ?? null, granted: null })} />}
        </Field>
        {asked ? (
          <Field label={t("plugins.asks")} hint={t("plugins.asksHint")}>
            {(control) => <CheckList control={control} options={asked} value={given.granted ?? asked.map((each) => each.value)} onChange={(granted) => setGiven({ ...given, granted })} />}
          </Field>
        ) : (
          <ErrorNote error={installing.error} />
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("common.cancel")}</Button>
          <Button type="submit" weight="primary" busy={installing.isPending}>{t(asked ? "plugins.grant" : "plugins.install")}</Button>
        </div>
      </form>
    </Dialog>
  );
}
