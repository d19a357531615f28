// Changes one field, such as a switch. Other fields that another user has changed stay as they are; if this field was
// changed, the new value is shown and the user decides again.
import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import type { Versioned } from "../api/client";
import type { Problem } from "../api/problem";
import type { VersionedQuery } from "../api/queries";
import { useSave } from "./useSave";
import { isVersionConflict } from "./useSaveWithConflict";

type PatchField<Thing, Given, Answered> = {
  current: Versioned<Thing>;
  /** Reads the current version again. */
  query: VersionedQuery<Thing>;
  /** The name of the field at the Host. */
  field: (given: Given) => string;
  put: (given: Given, over: Versioned<Thing>) => Promise<Answered>;
  stale: string[];
  after?: () => void;
};

export function usePatchField<Thing, Given, Answered>({
  current,
  query,
  field,
  put,
  stale,
  after,
}: PatchField<Thing, Given, Answered>) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const change = async (given: Given) => {
    try {
      return await put(given, current);
    } catch (error) {
      if (!isVersionConflict(error)) throw error;
      const theirs = await client.fetchQuery({ ...query, staleTime: 0 });
      if (isChanged(error, field(given))) throw new Error(t("changed.part"));
      return await put(given, theirs);
    }
  };
  return useSave(change, stale, after);
}

/** Whether another user changed the field; true if the Host can't say what was changed. */
function isChanged({ details }: Problem, field: string): boolean {
  const changed = (details as { changed?: string[] } | null)?.changed ?? [];
  return changed.length === 0 || changed.includes(field);
}
