// A switch that is changed while another user changes the same thing.
import { QueryClient, QueryClientProvider, queryOptions } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import type { Versioned } from "../src/api/client";
import { Problem } from "../src/api/problem";
import "../src/lib/language";
import { usePatchField } from "../src/lib/usePatchField";

type Thing = { name: string; enabled: boolean };
const SEEN: Versioned<Thing> = { value: { name: "Desk", enabled: false }, tag: "1" };

/** A Host on which another user has saved first. */
class Shelf {
  constructor(
    public kept: Versioned<Thing>,
    private readonly changed: string[],
  ) {}
  readonly put = (enabled: boolean, over: Versioned<Thing>) => {
    if (over.tag !== this.kept.tag)
      return Promise.reject(new Problem(412, "changed_meanwhile", "it was changed", { changed: this.changed }));
    this.kept = { value: { ...over.value, enabled }, tag: "3" };
    return Promise.resolve(this.kept.value);
  };
}

function Turn({ shelf }: { shelf: Shelf }) {
  const query = queryOptions({ queryKey: ["thing"], queryFn: () => Promise.resolve(shelf.kept) });
  const turning = usePatchField({ current: SEEN, query, field: () => "enabled", put: shelf.put, stale: [] });
  return (
    <>
      <button onClick={() => turning.mutate(true)}>Turn</button>
      {turning.isSuccess && <p>Turned.</p>}
      {turning.error && <p>{turning.error.message}</p>}
    </>
  );
}

function turned(theirs: Partial<Thing>, changed: string[]): Shelf {
  const shelf = new Shelf({ value: { ...SEEN.value, ...theirs }, tag: "2" }, changed);
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Turn shelf={shelf} />
    </QueryClientProvider>,
  );
  fireEvent.click(screen.getByText("Turn"));
  return shelf;
}

describe("a switch", () => {
  it("is applied to the other user's version of the rest", async () => {
    const shelf = turned({ name: "Their desk" }, ["name"]);
    await screen.findByText("Turned.");
    expect(shelf.kept.value).toEqual({ name: "Their desk", enabled: true });
  });

  it.each([[["enabled"]], [["enabled", "name"]], [[]]])(
    "is left as it is when they may have turned it themselves (%j)",
    async (changed) => {
      const shelf = turned({ enabled: true }, changed);
      await screen.findByText(/Someone else changed this/);
      expect(shelf.kept.tag).toBe("2");
    },
  );
});
