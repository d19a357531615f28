// A form with the value that was read when it opened, which later reads do not change.
import { useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode, useState } from "react";

import type { Versioned } from "../api/client";
import type { VersionedQuery } from "../api/queries";
import { ErrorMessage, Loading } from "./Feedback";

type Open<Thing> = (thing: Versioned<Thing>) => void;

export function FormSnapshot<Thing>({
  query,
  children,
}: {
  query: VersionedQuery<Thing>;
  children: (opened: Versioned<Thing>, open: Open<Thing>) => ReactNode;
}) {
  const [snapshot, open] = useState<Versioned<Thing> | null>(null);
  const read = useQuery({ ...query, staleTime: 0, gcTime: 0, enabled: !snapshot });
  if (!snapshot && read.isFetchedAfterMount && read.data) open(read.data);
  if (read.error && !snapshot) return <ErrorMessage error={read.error} />;
  if (!snapshot) return <Loading />;
  // a form that loads the other version starts again from it
  return <Fragment key={snapshot.tag}>{children(snapshot, open)}</Fragment>;
}
