// Installs a plugin or a new version of it from a folder, a zip file or an address, after showing its permissions.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, upload } from "../../api/client";
import { Problem } from "../../api/problem";
import type { Plugin } from "../../api/types";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";
import { CheckList } from "../../components/form/lists";
import { LeaveGuard } from "../../components/LeaveGuard";
import { useSave } from "../../lib/useSave";
import { askedIn, choicesOf, namesOf } from "./grants";
import { PLUGIN_KEYS } from "./queryKeys";
import { useGrantWords } from "./useGrantWords";

type Given = { source: string; file: File | null; granted: string[] | null };

const NOTHING: Given = { source: "", file: null, granted: null };

function install({ source, file, granted }: Given, upgrade?: string): Promise<Plugin> {
  if (!file) return answer(api.POST("/api/v1/plugins/install", { body: { source, granted, upgrade } }));
  const form = new FormData();
  form.append("file", file);
  if (granted) form.append("granted", JSON.stringify(granted));
  if (upgrade) form.append("upgrade", upgrade);
  return upload("/api/v1/plugins/install", form);
}

/** A plugin that comes with Parlour: what it is called, and what it is installed from. */
type Bundled = { label: string; source: string };

/**
 * `upgrade` is the plugin to be replaced by a new version; other plugins are refused then. A bundled plugin leaves no
 * choice of a source, only that of its permissions.
 */
export function InstallDialog({
  open,
  upgrade,
  bundled,
  onClose,
}: {
  open: boolean;
  upgrade?: string;
  bundled?: Bundled;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const title = bundled
    ? t("plugins.installTitle", { name: bundled.label })
    : upgrade
      ? t("plugins.upgradeTitle", { name: upgrade })
      : t("plugins.install");
  return (
    <Dialog open={open} title={title} onClose={onClose}>
      <InstallForm upgrade={upgrade} bundled={bundled} onDone={onClose} />
    </Dialog>
  );
}

function InstallForm({ upgrade, bundled, onDone }: { upgrade?: string; bundled?: Bundled; onDone: () => void }) {
  const { t } = useTranslation();
  const grantWords = useGrantWords();
  const [request, setRequest] = useState<Given>({ ...NOTHING, source: bundled?.source ?? "" });
  const installing = useSave((given: Given) => install(given, upgrade), PLUGIN_KEYS, onDone);
  const requested =
    installing.error instanceof Problem && installing.error.code === "grants_required"
      ? askedIn(installing.error.details)
      : null;
  const update = (change: Partial<Given>) => {
    setRequest({ ...request, granted: null, ...change });
    if (!("granted" in change)) installing.reset(); // another plugin requests other permissions
  };
  const granted = requested && (request.granted ?? namesOf(requested));
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        installing.mutate({ ...request, granted });
      }}
    >
      <LeaveGuard dirty={request.source !== (bundled?.source ?? "") || request.file !== null} />
      {upgrade && <p className="text-sm text-quiet">{t("plugins.upgradeText")}</p>}
      {bundled ? (
        !requested && <p className="text-sm text-quiet">{t("plugins.bundledHint")}</p>
      ) : (
        <>
          <Field label={t("plugins.source")} hint={t("plugins.sourceHint")}>
            {(control) => (
              <Input
                {...control}
                value={request.source}
                placeholder="git+https://example.org/plugin.git"
                disabled={!!request.file}
                required={!request.file}
                onChange={(event) => update({ source: event.target.value })}
              />
            )}
          </Field>
          <Field label={t("plugins.zip")}>
            {(control) => (
              <input
                {...control}
                type="file"
                accept=".zip"
                className="block w-full text-sm file:mr-3 file:rounded-control file:border file:border-line file:bg-surface file:px-3 file:py-1.5"
                onChange={(event) => update({ file: event.target.files?.[0] ?? null })}
              />
            )}
          </Field>
        </>
      )}
      {requested && granted ? (
        <Field label={t("plugins.asks")} hint={t("plugins.asksHint")}>
          {(control) => (
            <CheckList
              whole
              control={control}
              options={choicesOf(requested, (grant) => grantWords(grant.word, grant.values, grant.name))}
              value={granted}
              onChange={(next) => update({ granted: next })}
            />
          )}
        </Field>
      ) : (
        <ErrorMessage error={installing.error} />
      )}
      {installing.isPending && (
        <p role="status" className="text-sm text-quiet">
          {t("plugins.installing")}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>{t("common.cancel")}</Button>
        <Button type="submit" weight="primary" busy={installing.isPending}>
          {t(requested ? "plugins.grant" : upgrade ? "plugins.upgrade" : "plugins.install")}
        </Button>
      </div>
    </form>
  );
}
