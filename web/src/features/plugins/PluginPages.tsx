// The pages that a plugin has in the web interface. Each is opened on request and says whose it is.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { Plugin, PluginPage } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { localized } from "../../lib/format";
import { PluginFrame } from "./PluginFrame";
import * as pluginQueries from "./queries";

export function PluginPages({ plugin }: { plugin: Plugin }) {
  const { t } = useTranslation();
  const pages = useQuery(pluginQueries.pluginPages(plugin.id, plugin.status));
  if (pages.error) return <ErrorMessage error={pages.error} />;
  if (!pages.data) return <Loading />;
  if (pages.data.length === 0) return <p className="text-sm text-quiet">{t("plugins.pagesNotRunning")}</p>;
  return (
    <div className="space-y-3">
      <p className="text-sm text-quiet">{t("plugins.pagesText")}</p>
      {pages.data.map((page) => (
        <OnePage key={page.name} plugin={plugin} page={page} />
      ))}
    </div>
  );
}

function OnePage({ plugin, page }: { plugin: Plugin; page: PluginPage }) {
  const { t, i18n } = useTranslation();
  const rights = useRights();
  const [open, setOpen] = useState(false);
  const title = localized(page.label, i18n.language) || page.name;
  const allowed = { viewer: true, operator: rights.operate, admin: rights.edit, owner: rights.own }[page.role];
  return (
    <section className="space-y-2" aria-label={title}>
      <div className="flex flex-wrap items-center gap-3">
        <div className="min-w-0 flex-1">
          <h3 className="text-sm font-medium wrap-anywhere">{title}</h3>
          <p className="text-sm text-quiet">{localized(page.description, i18n.language)}</p>
        </div>
        {allowed ? (
          <Button small aria-expanded={open} onClick={() => setOpen(!open)}>
            {t(open ? "plugins.closePage" : "plugins.openPage", { name: title })}
          </Button>
        ) : (
          <p className="text-sm text-quiet">{t("plugins.pageNeedsRole", { role: t(`role.${page.role}`) })}</p>
        )}
      </div>
      {open && allowed && <PluginFrame id={plugin.id} page={page.name} title={title} />}
    </section>
  );
}
