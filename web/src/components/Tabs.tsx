// A few views of one thing, on radix's tabs.
import { Tabs as Primitive } from "radix-ui";
import type { ReactNode } from "react";

export type Tab = { id: string; label: string; content: ReactNode };

export function Tabs({ tabs, first, onChange }: { tabs: Tab[]; first?: string; onChange?: (id: string) => void }) {
  return (
    <Primitive.Root defaultValue={first ?? tabs[0]?.id} onValueChange={onChange}>
      <Primitive.List className="mb-5 flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Primitive.Trigger
            key={tab.id}
            value={tab.id}
            className="-mb-px border-b-2 border-transparent px-3 -outline-offset-2 py-2 text-sm font-medium whitespace-nowrap text-quiet hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
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
