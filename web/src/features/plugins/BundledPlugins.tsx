// The plugins that come with Parlour and are not installed yet. Nothing of them runs before one is installed.
import { useQuery } from "@tanstack/react-query";
import { Bot } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { BundledPlugin } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { localized } from "../../lib/format";
import { InstallDialog } from "./InstallDialog";
import * as pluginQueries from "./queries";

export function BundledPlugins({ installed }: { installed: string[] }) {
  const { t } = useTranslation();
  const bundled = useQuery(pluginQueries.bundled);
  const available = bundled.data?.filter((plugin) => !installed.includes(plugin.id)) ?? [];
  if (bundled.error) return <ErrorMessage error={bundled.error} />;
  if (available.length === 0) return null;
  return (
    <section className="mt-10" aria-labelledby="bundled-plugins">
      <h2 id="bundled-plugins" className="font-semibold">
        {t("plugins.bundled")}
      </h2>
      <p className="mt-1 text-sm text-quiet">{t("plugins.bundledText")}</p>
      <ul className="mt-4 grid gap-4 sm:grid-cols-2">
        {available.map((plugin) => (
          <BundledCard key={plugin.id} plugin={plugin} />
        ))}
      </ul>
    </section>
  );
}

function BundledCard({ plugin }: { plugin: BundledPlugin }) {
  const { t, i18n } = useTranslation();
  const { edit } = useRights();
  const [installing, setInstalling] = useState(false);
  const label = localized(plugin.label, i18n.language) || plugin.id;
  return (
    <li className="flex items-start gap-3 rounded-card border border-line bg-surface p-4 shadow-card">
      {plugin.icon ? (
        <img src={plugin.icon} alt="" className="size-9 shrink-0" />
      ) : (
        <Bot aria-hidden className="size-9 shrink-0 text-quiet" />
      )}
      <div className="min-w-0 flex-1">
        <h3 className="font-medium wrap-anywhere">{label}</h3>
        <p className="mt-1 text-sm text-quiet">{localized(plugin.description, i18n.language)}</p>
      </div>
      {edit && (
        <Button small aria-label={t("plugins.installName", { name: label })} onClick={() => setInstalling(true)}>
          {t("plugins.installBundled")}
        </Button>
      )}
      <InstallDialog
        open={installing}
        bundled={{ label, source: plugin.source }}
        onClose={() => setInstalling(false)}
      />
    </li>
  );
}
