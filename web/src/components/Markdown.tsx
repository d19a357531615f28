// Renders text of users, models and tools as Markdown. HTML is not rendered, external resources are not loaded,
// and a link shows its target.
import { Check, Copy, ImageOff } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import Renderer from "react-markdown";
import remarkGfm from "remark-gfm";

import { highlighted, type Part } from "../lib/highlight";

const LINKS = new Set(["http:", "https:", "mailto:"]);

/** Returns the address if it is safe to link to. */
export function safeAddress(address: string | undefined): string | undefined {
  if (!address) return undefined;
  try {
    const parsed = new URL(address);
    return LINKS.has(parsed.protocol) ? parsed.href : undefined;
  } catch {
    return undefined; // a relative address in foreign text would lead into this page
  }
}

export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose-chat min-w-0 break-words">
      <Renderer
        remarkPlugins={[remarkGfm]}
        urlTransform={(address) => safeAddress(address) ?? ""}
        components={{
          a: ({ href, children }) => <Link address={href} text={children} />,
          img: ({ src, alt }) => <RemoteImage address={typeof src === "string" ? src : ""} alt={alt ?? ""} />,
          pre: ({ children }) => <Block>{children}</Block>,
          code: ({ className, children }) => (
            <Colours language={/language-(\S+)/.exec(className ?? "")?.[1] ?? ""}>{children}</Colours>
          ),
          input: ({ checked }) => <input type="checkbox" checked={!!checked} readOnly disabled className="mr-1.5" />,
        }}
      >
        {text}
      </Renderer>
    </div>
  );
}

function Link({ address, text }: { address?: string; text: ReactNode }) {
  if (!address) return <span>{text}</span>;
  return (
    <a href={address} title={address} target="_blank" rel="noopener noreferrer nofollow">
      {text}
    </a>
  );
}

/** Offers an external image as a link: loading it would reveal to its server that the text was read. */
function RemoteImage({ address, alt }: { address: string; alt: string }) {
  const { t } = useTranslation();
  const label = alt || t("markdown.image");
  return (
    <span className="inline-flex items-center gap-1.5 rounded-control bg-raised px-2 py-1 text-sm text-quiet">
      <ImageOff aria-hidden className="size-4" />
      {address ? <Link address={address} text={t("markdown.openImage", { label })} /> : label}
    </span>
  );
}

const COLOURS: Record<Part["kind"], string | undefined> = {
  comment: "text-quiet italic",
  text: "text-good",
  number: "text-warn",
  word: "text-accent font-medium",
  plain: undefined,
};

/** Highlights code of a known language. */
function Colours({ language, children }: { language: string; children: ReactNode }) {
  const parts = useMemo(
    () => (language && typeof children === "string" ? highlighted(children, language) : null),
    [language, children],
  );
  if (!parts) return <code>{children}</code>;
  return (
    <code>
      {parts.map((part, index) =>
        COLOURS[part.kind] ? (
          <span key={index} className={COLOURS[part.kind]}>
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </code>
  );
}

function Block({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  const copy = async (button: HTMLElement) => {
    await navigator.clipboard.writeText(button.parentElement?.querySelector("pre")?.textContent ?? "");
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <div className="group relative">
      <pre
        tabIndex={0}
        className="overflow-x-auto rounded-control bg-raised p-3.5 pr-12 font-mono text-[0.8125rem] leading-relaxed"
      >
        {children}
      </pre>
      <button
        type="button"
        aria-label={copied ? t("markdown.copied") : t("markdown.copy")}
        onClick={(event) => void copy(event.currentTarget)}
        className="absolute top-2 right-2 rounded-control bg-raised p-1.5 text-quiet hover:bg-surface hover:text-ink"
      >
        {copied ? <Check className="size-4" /> : <Copy className="size-4" />}
      </button>
    </div>
  );
}
