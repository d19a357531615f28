// Asks for a typed confirmation that commands run on the Host's machine outside any sandbox.
import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useTranslation } from "react-i18next";

import * as queries from "../../api/queries";
import { Field, Input } from "../../components/Field";

/** Returns whether the settings of the Host allow commands without a confirmation. */
export function useCommandsAllowed(): boolean {
  return useQuery(queries.info).data?.features.mcp_stdio === true;
}

export function Confirmation({
  commands,
  value,
  onChange,
  error,
}: {
  commands: string[];
  value: string;
  onChange: (typed: string) => void;
  error?: string;
}) {
  const { t } = useTranslation();
  return (
    <div className="space-y-3 rounded-card border border-warn/40 bg-warn-wash p-4">
      <p className="flex gap-2.5 text-sm text-warn">
        <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
        {t("tools.unsandboxed")}
      </p>
      <ul className="space-y-1 empty:hidden">
        {commands.filter(Boolean).map((command) => (
          <li key={command} className="font-mono text-sm break-all">
            {command}
          </li>
        ))}
      </ul>
      <Field label={t("tools.confirm", { words: t("tools.confirmWords") })} required error={error}>
        {(control) => (
          <Input
            {...control}
            required
            autoComplete="off"
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
    </div>
  );
}
