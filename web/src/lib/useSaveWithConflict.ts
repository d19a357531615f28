// Saves a change; when another user saved first, shows both versions before anything is lost.
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";

import type { Versioned } from "../api/client";
import { Problem } from "../api/problem";
import type { VersionedQuery } from "../api/queries";
import { applyDiff, diff, type Difference } from "./diff";
import { useSave } from "./useSave";

/** The version of another user, and the one that was to be saved. */
export type Conflict<Thing, Body> = {
  over: Versioned<Thing>;
  theirs: Versioned<Thing>;
  mine: Body;
  changes: Difference[];
};

type SaveOptions<Thing, Body, Basis, Answered> = {
  /** The version that the change is based on; null for something new, which can't conflict. */
  base: Basis;
  /** Reads the current version again. */
  query: VersionedQuery<Thing> | null;
  /** Returns the body of the request that saves a value. */
  bodyOf: (thing: Thing) => Body;
  put: (body: Body, over: Basis) => Promise<Answered>;
  stale: string[];
  after: (answered: Answered) => void;
};

export const isVersionConflict = (error: unknown): error is Problem => error instanceof Problem && error.status === 412;

export function useSaveWithConflict<Thing, Body extends object, Basis extends Versioned<Thing> | null, Answered>(
  options: SaveOptions<Thing, Body, Basis, Answered>,
) {
  const { base, query, bodyOf, put, stale, after } = options;
  const client = useQueryClient();
  const [conflict, setConflict] = useState<Conflict<Thing, Body> | null>(null);
  const saving = useSave(
    ({ body, over }: { body: Body; over: Basis }) => put(body, over),
    stale,
    (answered) => {
      setConflict(null);
      after(answered);
    },
  );
  const save = async (body: Body, over: Basis) => {
    try {
      await saving.mutateAsync({ body, over });
    } catch (error) {
      if (!isVersionConflict(error) || !over || !query) return setConflict(null); // `error` below has it
      const theirs = await client.fetchQuery({ ...query, staleTime: 0 });
      setConflict({ over, theirs, mine: body, changes: diff(bodyOf(over.value), bodyOf(theirs.value)) });
    }
  };
  return {
    save: (body: Body) => void save(body, base),
    /** Applies the user's changes to the other version; fields that only the other user changed stay as they are. */
    overwrite: () => {
      if (!conflict) return;
      const { over, theirs, mine } = conflict;
      void save(applyDiff(bodyOf(theirs.value), diff(bodyOf(over.value), mine)), theirs as Basis);
    },
    reset: () => {
      setConflict(null);
      saving.reset();
    },
    conflict,
    error: conflict ? null : saving.error,
    isPending: saving.isPending,
    isSuccess: saving.isSuccess,
  };
}

/** Returns the version that an edit started from, which does not change while the edit goes on. */
export function useBase<Thing>(current: Thing, editing: boolean): Thing {
  const base = useRef(current);
  if (!editing) base.current = current;
  return base.current;
}
