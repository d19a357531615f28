// A change of what was seen: when somebody else changed it meanwhile, they are both told apart before anything is lost.
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";

import type { Versioned } from "../api/client";
import { Problem } from "../api/problem";
import type { VersionedQuery } from "../api/queries";
import { changedBy, type Difference, differences } from "./diff";
import { useSave } from "./useSave";

/** What somebody else made of it, and what was to be made of it here. */
export type Conflict<Thing, Body> = {
  over: Versioned<Thing>;
  theirs: Versioned<Thing>;
  mine: Body;
  changes: Difference[];
};

type Guard<Thing, Body, Basis, Answered> = {
  /** What the change was made from; null when it is made anew, which nobody else can have changed. */
  basis: Basis;
  /** How it is read again. */
  query: VersionedQuery<Thing> | null;
  /** How the thing is written. */
  bodyOf: (thing: Thing) => Body;
  put: (body: Body, over: Basis) => Promise<Answered>;
  stale: string[];
  after: (answered: Answered) => void;
};

export const changedMeanwhile = (error: unknown): error is Problem => error instanceof Problem && error.status === 412;

export function useGuardedSave<Thing, Body extends object, Basis extends Versioned<Thing> | null, Answered>(
  guard: Guard<Thing, Body, Basis, Answered>,
) {
  const { basis, query, bodyOf, put, stale, after } = guard;
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
      if (!changedMeanwhile(error) || !over || !query) return setConflict(null); // `error` below has it
      const theirs = await client.fetchQuery({ ...query, staleTime: 0 });
      setConflict({ over, theirs, mine: body, changes: differences(bodyOf(over.value), bodyOf(theirs.value)) });
    }
  };
  return {
    save: (body: Body) => void save(body, basis),
    /** What was changed here, done to what they made of it; what only they changed stays theirs. */
    keepMine: () => {
      if (!conflict) return;
      const { over, theirs, mine } = conflict;
      void save(changedBy(bodyOf(theirs.value), differences(bodyOf(over.value), mine)), theirs as Basis);
    },
    forget: () => {
      setConflict(null);
      saving.reset();
    },
    conflict,
    error: conflict ? null : saving.error,
    isPending: saving.isPending,
    isSuccess: saving.isSuccess,
  };
}

/** What an edit began with, however often it is read again while it goes on. */
export function useBasis<Thing>(current: Thing, editing: boolean): Thing {
  const basis = useRef(current);
  if (!editing) basis.current = current;
  return basis.current;
}
