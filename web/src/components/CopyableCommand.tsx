// A command for the machine of the Host, with a button that copies it.
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

export function CopyableCommand({ children }: { children: string }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(children);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <span className="flex items-start gap-2 rounded-control bg-raised p-2 text-ink">
      <code className="min-w-0 flex-1 font-mono text-xs break-all whitespace-pre-wrap">{children}</code>
      <button
        type="button"
        aria-label={copied ? t("markdown.copied") : t("markdown.copy")}
        onClick={() => void copy()}
        className="shrink-0 rounded-control p-1 text-quiet hover:bg-surface hover:text-ink"
      >
        {copied ? <Check aria-hidden className="size-4" /> : <Copy aria-hidden className="size-4" />}
      </button>
    </span>
  );
}
