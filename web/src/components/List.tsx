// A list of rows with links.
import type { ReactNode } from "react";

export function Rows({ children }: { children: ReactNode }) {
  return (
    <ul className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface shadow-card">
      {children}
    </ul>
  );
}

export function Row({
  sign,
  title,
  text,
  marks,
  actions,
}: {
  sign?: ReactNode;
  title: ReactNode;
  text?: ReactNode;
  marks?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-4">
      {sign}
      <div className="min-w-0 flex-1 basis-40 wrap-anywhere">
        <div className="font-medium">{title}</div>
        {text && <div className="mt-0.5 text-sm text-quiet">{text}</div>}
      </div>
      {marks && <div className="flex flex-wrap items-center gap-2">{marks}</div>}
      {actions && <div className="flex flex-wrap items-center gap-1">{actions}</div>}
    </li>
  );
}
