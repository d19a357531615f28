// The word lists that filters of message policies share.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { DeleteButton } from "../../components/DeleteButton";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input, TextArea } from "../../components/Field";
import { Card } from "../../components/Layout";
import { useSave } from "../../lib/useSave";
import * as policyQueries from "./queries";

type Draft = { list_id: string; name: string; words: string; patterns: string };
const EMPTY: Draft = { list_id: "", name: "", words: "", patterns: "" };
const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

export function WordLists() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const lists = useQuery(policyQueries.wordLists);
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const body = { name: draft.name, words: linesOf(draft.words), patterns: linesOf(draft.patterns) };
  const saving = useSave(
    () =>
      draft.list_id
        ? answer(api.PUT("/api/v1/word-lists/{list_id}", { params: { path: { list_id: draft.list_id } }, body }))
        : answer(api.POST("/api/v1/word-lists", { body })),
    ["word-lists"],
    () => setDraft(EMPTY),
  );
  return (
    <Card title={t("wordLists.title")}>
      <p className="mb-4 text-sm text-quiet">{t("wordLists.text")}</p>
      <ErrorMessage error={lists.error} />
      <ul className="mb-4 space-y-2">
        {lists.data?.map((list) => (
          <li key={list.list_id} className="flex flex-wrap items-center gap-2">
            <span className="font-medium">{list.name}</span>
            <span className="text-sm text-quiet">
              {t("wordLists.size", { words: list.words.length, patterns: list.patterns.length })}
            </span>
            <span className="flex-1" />
            {edit && (
              <>
                <Button
                  weight="quiet"
                  aria-label={t("wordLists.editName", { name: list.name })}
                  onClick={() =>
                    setDraft({ ...list, words: list.words.join("\n"), patterns: list.patterns.join("\n") })
                  }
                >
                  {t("common.edit")}
                </Button>
                <DeleteButton
                  label={t("common.delete")}
                  title={t("wordLists.deleteTitle", { name: list.name })}
                  text={t("wordLists.deleteText")}
                  remove={() =>
                    answer(api.DELETE("/api/v1/word-lists/{list_id}", { params: { path: { list_id: list.list_id } } }))
                  }
                  stale={["word-lists"]}
                />
              </>
            )}
          </li>
        ))}
      </ul>
      {edit && (
        <form
          className="space-y-4"
          onSubmit={(event) => {
            event.preventDefault();
            saving.mutate(undefined);
          }}
        >
          <Field label={t("wordLists.name")} required>
            {(control) => (
              <Input
                {...control}
                required
                value={draft.name}
                onChange={(event) => setDraft({ ...draft, name: event.target.value })}
              />
            )}
          </Field>
          <Field label={t("wordLists.words")}>
            {(control) => (
              <TextArea
                {...control}
                rows={4}
                value={draft.words}
                onChange={(event) => setDraft({ ...draft, words: event.target.value })}
              />
            )}
          </Field>
          <Field label={t("wordLists.patterns")}>
            {(control) => (
              <TextArea
                {...control}
                rows={2}
                value={draft.patterns}
                onChange={(event) => setDraft({ ...draft, patterns: event.target.value })}
              />
            )}
          </Field>
          <ErrorMessage error={saving.error} />
          <Button type="submit" busy={saving.isPending}>
            {t(draft.list_id ? "wordLists.save" : "wordLists.create")}
          </Button>
        </form>
      )}
    </Card>
  );
}
