// The layout of the login and setup pages.
import type { ReactNode } from "react";

import { Preferences } from "../../app/Preferences";
import { within } from "../../lib/base";
import { usePageTitle } from "../../lib/usePageTitle";

export function AuthLayout({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  usePageTitle(title);
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex flex-col items-center text-center">
          <img src={within("/icon.svg")} alt="" className="mb-4 size-12" />
          <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
          <p className="mt-1 text-quiet">{text}</p>
        </div>
        <div className="rounded-card border border-line bg-surface p-6 shadow-card">{children}</div>
        <div className="mx-auto mt-4 w-44">
          <Preferences />
        </div>
      </div>
    </main>
  );
}
