// The programs that a plugin may have started: installed or not, with the command that installs it, what each may do,
// and how many run.
import { useQuery } from "@tanstack/react-query";
import { Check, Minus } from "lucide-react";
import { useTranslation } from "react-i18next";

import type { PluginProgram } from "../../api/types";
import { CopyableCommand } from "../../components/CopyableCommand";
import { Collapsible } from "../../components/Collapsible";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Badge } from "../../components/Layout";
import { localized } from "../../lib/format";
import * as pluginQueries from "./queries";
import { useGrantWords } from "./useGrantWords";

export function Programs({ id }: { id: string }) {
  const programs = useQuery(pluginQueries.pluginPrograms(id));
  if (programs.error) return <ErrorMessage error={programs.error} />;
  if (!programs.data) return <Loading />;
  return (
    <ul className="divide-y divide-line">
      {programs.data.map((program) => (
        <ProgramItem key={program.name} program={program} />
      ))}
    </ul>
  );
}

function ProgramItem({ program }: { program: PluginProgram }) {
  const { t, i18n } = useTranslation();
  const grantWords = useGrantWords();
  const note = localized(program.note, i18n.language);
  return (
    <li className="space-y-2 py-3 first:pt-0">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{program.label}</span>
        <Badge tone={program.installed ? "good" : "warn"}>
          {t(program.installed ? "programs.installed" : "programs.missing")}
        </Badge>
        {program.granted ? <Badge tone="good">{t("plugins.granted")}</Badge> : <Badge>{t("plugins.ungranted")}</Badge>}
        {program.running > 0 && <Badge>{t("programs.running", { count: program.running })}</Badge>}
      </p>
      {note && <p className="text-sm text-warn">{note}</p>}
      {!program.installed && (
        <div className="space-y-1.5 text-sm">
          <ul className="text-quiet">
            {program.commands.map((each) => (
              <li key={each.name} className="flex items-center gap-2">
                {each.path ? (
                  <Check aria-label={t("programs.installed")} className="size-4 text-good" />
                ) : (
                  <Minus aria-label={t("programs.missing")} className="size-4" />
                )}
                <code className="font-mono text-xs">{each.name}</code>
              </li>
            ))}
          </ul>
          {program.install && (
            <>
              <p>{t("programs.install")}</p>
              <CopyableCommand>{program.install}</CopyableCommand>
            </>
          )}
        </div>
      )}
      <Collapsible title={t("programs.risk")}>
        <ul className="list-disc space-y-1 pl-5 text-sm text-quiet">
          {program.words.map((each) => (
            <li key={each.key}>{grantWords(each.key, each.values, each.text)}</li>
          ))}
        </ul>
      </Collapsible>
    </li>
  );
}
