// Tabs, based on Radix. The open one is in the address, so that a reload or a link shows it.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Tabs as Primitive } from "radix-ui";
import { type ReactNode, useEffect, useRef } from "react";

export type Tab = { id: string; label: string; content: ReactNode };

/** Returns the tab in the address, or the first one if the address has none of these. */
export function useOpenTab(ids: string[]): string {
  const { tab } = useSearch({ strict: false });
  return ids.find((id) => id === tab) ?? ids[0] ?? "";
}

export function Tabs({ tabs }: { tabs: Tab[] }) {
  const open = useOpenTab(tabs.map((tab) => tab.id));
  const navigate = useNavigate();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[data-state=active]")?.scrollIntoView?.({ block: "nearest", inline: "nearest" });
  }, [open]);
  const choose = (id: string) =>
    void navigate({ to: ".", search: (search) => ({ ...search, tab: id }), replace: true });
  return (
    // manual activation: a tab that only gets the focus, as after a confirmation, is not opened
    <Primitive.Root value={open} onValueChange={choose} activationMode="manual">
      <Primitive.List
        ref={list}
        className="mb-5 flex gap-1 overflow-x-auto overflow-y-hidden border-b border-line [scrollbar-width:none]"
      >
        {tabs.map((tab) => (
          <Primitive.Trigger
            key={tab.id}
            value={tab.id}
            className="border-b-2 border-transparent px-3 py-2 text-sm font-medium whitespace-nowrap text-quiet -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {tab.label}
          </Primitive.Trigger>
        ))}
      </Primitive.List>
      {tabs.map((tab) => (
        <Primitive.Content key={tab.id} value={tab.id} className="outline-none">
          {tab.content}
        </Primitive.Content>
      ))}
    </Primitive.Root>
  );
}
