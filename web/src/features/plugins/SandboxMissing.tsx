// A warning that plugins run without the sandbox, with the command that installs it.
import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Code } from "../../components/Layout";
import * as pluginQueries from "./queries";

export function SandboxMissing() {
  const { t } = useTranslation();
  const plugin = useQuery(pluginQueries.plugins).data?.find((each) => each.sandbox_missing);
  if (!plugin) return null;
  return (
    <section aria-label={t("plugins.noSandbox")} className="mb-4 rounded-card bg-warn-wash px-5 py-4 text-sm">
      <h2 className="flex items-center gap-2 font-semibold text-warn">
        <TriangleAlert aria-hidden className="size-4 shrink-0" /> {t("plugins.noSandbox")}
      </h2>
      <p className="mt-1.5">{t("plugins.noSandboxText")}</p>
      <p className="mt-1.5 break-words text-quiet">
        {plugin.sandbox_reason}; {plugin.sandbox_remedy}.
      </p>
      {plugin.sandbox_command && (
        <div className="mt-2 space-y-1.5">
          <p>{t("plugins.sandboxCommand")}</p>
          <Code>{plugin.sandbox_command}</Code>
        </div>
      )}
    </section>
  );
}
