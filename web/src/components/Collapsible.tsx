// A section that opens on a click, based on Radix.
import { ChevronRight } from "lucide-react";
import { Collapsible as Primitive } from "radix-ui";
import type { ReactNode } from "react";

export function Collapsible({ title, children, open }: { title: ReactNode; children: ReactNode; open?: boolean }) {
  return (
    <Primitive.Root defaultOpen={open}>
      <Primitive.Trigger className="group flex w-full items-center gap-1.5 rounded-control py-1 text-left text-sm text-quiet hover:text-ink">
        <ChevronRight aria-hidden className="size-4 shrink-0 transition-transform group-data-[state=open]:rotate-90" />
        {title}
      </Primitive.Trigger>
      <Primitive.Content className="pt-2">{children}</Primitive.Content>
    </Primitive.Root>
  );
}
