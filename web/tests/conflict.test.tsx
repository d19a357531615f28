// Two people change the same thing: what differs, what becomes of it, and how the page asks.
import { QueryClient, QueryClientProvider, queryOptions } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it } from "vitest";

import type { Versioned } from "../src/api/client";
import { Problem } from "../src/api/problem";
import { ConflictNote } from "../src/components/ConflictNote";
import { applyDiff, diff } from "../src/lib/diff";
import { useSaveWithConflict } from "../src/lib/useSaveWithConflict";

describe("differences", () => {
  it("are listed value by value, with lists as one value", () => {
    expect(
      diff(
        { name: "a", config: { prompt: "x", n: 1 }, list: [1] },
        { name: "a", config: { prompt: "y", n: 1 }, list: [1, 2] },
      ),
    ).toEqual([
      { path: ["config", "prompt"], before: "x", after: "y" },
      { path: ["list"], before: [1], after: [1, 2] },
    ]);
  });

  it("of equal values are none, in any order of keys", () => {
    expect(diff({ a: 1, b: { c: [] } }, { b: { c: [] }, a: 1 })).toEqual([]);
  });

  it("are applied to a third value: added, removed and unchanged fields", () => {
    const base = { name: "a", config: { gone: 1, kept: 1 } };
    const mine = { name: "a", config: { kept: 1, fresh: { deep: 2 } } };
    const theirs = { name: "b", config: { gone: 1, kept: 3 } };
    expect(applyDiff(theirs, diff(base, mine))).toEqual({ name: "b", config: { kept: 3, fresh: { deep: 2 } } });
  });

  it("do not modify the value they are applied to", () => {
    const whole = { config: { a: 1 } };
    applyDiff(whole, [{ path: ["config", "a"], before: 1, after: 2 }]);
    expect(whole).toEqual({ config: { a: 1 } });
  });
});

type Thing = { id: string; name: string; description: string };
const BASE: Versioned<Thing> = { value: { id: "1", name: "Helper", description: "Old" }, tag: "1" };
const THEIRS: Versioned<Thing> = { value: { id: "1", name: "Their helper", description: "Old" }, tag: "2" };
const bodyOf = ({ name, description }: Thing) => ({ name, description });

/** A Host that has what the others made of it, and takes changes of that only. */
class Shelf {
  kept = THEIRS;
  readonly put = (body: ReturnType<typeof bodyOf>, over: Versioned<Thing>) => {
    if (over.tag !== this.kept.tag) return Promise.reject(new Problem(412, "changed_meanwhile", "it was changed"));
    this.kept = { value: { ...this.kept.value, ...body }, tag: `${this.kept.tag}+` };
    return Promise.resolve(this.kept.value);
  };
}

let taken: Thing | null;

function Form({ shelf, mine }: { shelf: Shelf; mine: Partial<Thing> }) {
  const query = queryOptions({ queryKey: ["thing"], queryFn: () => Promise.resolve(shelf.kept) });
  const saving = useSaveWithConflict({ base: BASE, query, bodyOf, put: shelf.put, stale: [], after: () => undefined });
  return (
    <>
      <button onClick={() => saving.save({ ...bodyOf(BASE.value), ...mine })}>Save</button>
      <ConflictNote
        name="Helper"
        conflict={saving.conflict}
        busy={saving.isPending}
        onTheirs={({ value }) => (taken = value)}
        onMine={saving.overwrite}
      />
      {saving.isSuccess && <p>Saved.</p>}
      {saving.error && <p>{saving.error.message}</p>}
    </>
  );
}

const inPage = (children: ReactNode) =>
  render(<QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>);

async function conflicting(mine: Partial<Thing>): Promise<Shelf> {
  taken = null;
  const shelf = new Shelf();
  inPage(<Form shelf={shelf} mine={mine} />);
  fireEvent.click(screen.getByText("Save"));
  await screen.findByRole("alert");
  return shelf;
}

describe("a change of something that another user has changed", () => {
  it("is refused with the current value", async () => {
    const shelf = await conflicting({ description: "New" });
    expect(screen.getByRole("alert").textContent).toContain("“Helper” was changed by someone else");
    expect(screen.getByRole("alert").textContent).toContain("NameCurrent: Their helper");
    expect(screen.queryByText(/Yours/)).toBeNull();
    expect(shelf.kept).toEqual(THEIRS);
  });

  it("shows both values of a field that both users changed", async () => {
    await conflicting({ name: "My helper" });
    screen.getByText("Current: Their helper");
    screen.getByText("Yours: My helper");
  });

  it("overwrites the conflicting values on request and keeps other changes of the other user", async () => {
    const shelf = await conflicting({ description: "New" });
    fireEvent.click(screen.getByText("Keep mine"));
    await screen.findByText("Saved.");
    expect(shelf.kept.value).toEqual({ id: "1", name: "Their helper", description: "New" });
    await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
  });

  it("conflicts again when the other user saves once more", async () => {
    const shelf = await conflicting({ name: "My helper" });
    shelf.kept = { value: { ...THEIRS.value, description: "Again" }, tag: "3" };
    fireEvent.click(screen.getByText("Keep mine"));
    await screen.findByText("Current: Again");
    fireEvent.click(screen.getByText("Keep mine"));
    await screen.findByText("Saved.");
    expect(shelf.kept.value).toEqual({ id: "1", name: "My helper", description: "Again" });
  });

  it("is dropped when the user loads the other values", async () => {
    const shelf = await conflicting({ description: "New" });
    fireEvent.click(screen.getByText("Load theirs"));
    expect(taken).toEqual(THEIRS.value);
    expect(shelf.kept).toEqual(THEIRS);
  });

  it("says that a field that is not shown has changed", async () => {
    taken = null;
    const shelf = new Shelf();
    shelf.kept = { value: BASE.value, tag: "2" };
    inPage(<Form shelf={shelf} mine={{ name: "My helper" }} />);
    fireEvent.click(screen.getByText("Save"));
    expect((await screen.findByRole("alert")).textContent).toContain("such as a secret");
  });

  it("that is refused for another reason shows that reason", async () => {
    const shelf = new Shelf();
    const refusing = Object.assign(shelf, {
      put: () => Promise.reject(new Problem(422, "invalid_argument", "name: is empty")),
    });
    inPage(<Form shelf={refusing} mine={{}} />);
    fireEvent.click(screen.getByText("Save"));
    await screen.findByText("name: is empty");
    expect(screen.queryByRole("alert")).toBeNull();
  });
});
