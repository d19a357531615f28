// Installs skills: first shows what the source contains, then installs what was chosen.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, upload } from "../../api/client";
import type { InstalledSkills, SkillPreview } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";
import { Badge } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { Switch } from "../../components/Switch";
import { useSave } from "../../lib/useSave";

type Source = { address: string; file: File | null };
type Choice = { source_paths: string[]; replace: boolean };

function preview({ address, file }: Source): Promise<SkillPreview> {
  if (!file) return answer(api.POST("/api/v1/skills/preview", { body: { source: address } as never }));
  const form = new FormData();
  form.append("file", file);
  return upload("/api/v1/skills/preview", form);
}

function install({ address, file }: Source, choice: Choice): Promise<InstalledSkills> {
  if (!file) return answer(api.POST("/api/v1/skills/install", { body: { source: address, ...choice } as never }));
  const form = new FormData();
  form.append("file", file);
  form.append("source_paths", JSON.stringify(choice.source_paths));
  form.append("replace", String(choice.replace));
  return upload("/api/v1/skills/install", form);
}

export function InstallSkills({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const [source, setSource] = useState<Source>({ address: "", file: null });
  const [left, setLeft] = useState<string[]>([]);
  const reading = useMutation({ mutationFn: preview });
  const found = reading.data?.candidates ?? [];
  const usable = found.filter((each) => !each.problem);
  const chosen = usable.filter((each) => !left.includes(each.source_path));
  const replaces = chosen.some((each) => each.conflicts);
  const installing = useSave(
    () => install(source, { source_paths: chosen.map((each) => each.source_path), replace: replaces }),
    ["skills"],
    onDone,
  );
  const change = (next: Partial<Source>) => {
    setSource({ ...source, ...next });
    setLeft([]);
    reading.reset();
    installing.reset();
  };
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (reading.data) installing.mutate();
        else reading.mutate(source);
      }}
    >
      <LeaveGuard dirty={!installing.isSuccess && (source.address !== "" || source.file !== null)} />
      <Field label={t("skills.source")} hint={t("skills.sourceHint")}>
        {(control) => (
          <Input
            {...control}
            value={source.address}
            placeholder="git+https://example.org/skills.git"
            disabled={!!source.file}
            required={!source.file}
            onChange={(event) => change({ address: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("skills.zip")}>
        {(control) => (
          <input
            {...control}
            type="file"
            accept=".zip"
            className="block w-full text-sm file:mr-3 file:rounded-control file:border file:border-line file:bg-surface file:px-3 file:py-1.5"
            onChange={(event) => change({ file: event.target.files?.[0] ?? null })}
          />
        )}
      </Field>
      {reading.data && (
        <ul aria-label={t("skills.found")} className="divide-y divide-line rounded-card border border-line">
          {found.map((each) => (
            <li key={each.source_path} className="flex flex-wrap items-center gap-3 px-4 py-3">
              <div className="min-w-0 flex-1 basis-40 wrap-anywhere">
                <div className="font-medium">{each.name || each.source_path}</div>
                <div className="text-sm text-quiet">{each.problem ?? each.description}</div>
              </div>
              {each.problem && <Badge tone="bad">{t("skills.unusable")}</Badge>}
              {each.conflicts && <Badge tone="warn">{t("skills.replaces")}</Badge>}
              {!each.problem && (
                <Switch
                  label={t("skills.choose", { name: each.name })}
                  checked={!left.includes(each.source_path)}
                  onChange={(on) =>
                    setLeft(on ? left.filter((path) => path !== each.source_path) : [...left, each.source_path])
                  }
                />
              )}
            </li>
          ))}
        </ul>
      )}
      <ErrorMessage error={reading.error ?? installing.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>{t("common.cancel")}</Button>
        <Button
          type="submit"
          weight="primary"
          disabled={!!reading.data && chosen.length === 0}
          busy={reading.isPending || installing.isPending}
        >
          {t(reading.data ? "skills.installChosen" : "skills.look", { count: chosen.length })}
        </Button>
      </div>
    </form>
  );
}
