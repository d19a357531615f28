// A page of a plugin in a sandboxed frame: it has no origin and no network, and asks this page to make its calls.
import { useEffect, useRef } from "react";

import { answer, api } from "../../api/client";
import { Problem } from "../../api/problem";
import { within } from "../../lib/base";

/** Calls of a page that are made at the same time, and within a minute. */
const MAX_OPEN_CALLS = 8;
const MAX_CALLS_PER_MINUTE = 120;

type Call = { parlour: "call"; id: number; action: string; data: unknown };
type Failure = { code: string; message: string };

const isCall = (data: unknown): data is Call =>
  typeof data === "object" &&
  data !== null &&
  (data as Call).parlour === "call" &&
  typeof (data as Call).id === "number" &&
  typeof (data as Call).action === "string";

const TOO_MANY: Failure = { code: "rate_limited", message: "too many calls; wait until earlier ones are answered" };

const failureOf = (error: unknown): Failure =>
  error instanceof Problem
    ? { code: error.code, message: error.message }
    : { code: "failed", message: "the call failed" };

/** Counts the calls of one page, so that a page can't flood the Host and its audit. */
class CallRate {
  open = 0;
  private recent: number[] = [];

  take(now: number): boolean {
    this.recent = this.recent.filter((each) => each > now - 60_000);
    if (this.open >= MAX_OPEN_CALLS || this.recent.length >= MAX_CALLS_PER_MINUTE) return false;
    this.recent.push(now);
    this.open += 1;
    return true;
  }
}

export function PluginFrame({ id, page, title }: { id: string; page: string; title: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [author = "", name = ""] = id.split("/");
  useEffect(() => {
    const rate = new CallRate();
    const path = { author, name, page };
    async function answered({ action, data }: Call): Promise<{ data: unknown } | { error: Failure }> {
      if (!rate.take(Date.now())) return { error: TOO_MANY };
      try {
        const request = api.POST("/api/v1/plugins/{author}/{name}/pages/{page}/calls", {
          params: { path },
          body: { action, data },
        });
        return { data: (await answer(request)).data };
      } catch (error) {
        return { error: failureOf(error) };
      } finally {
        rate.open -= 1;
      }
    }
    async function onMessage({ source, data }: MessageEvent): Promise<void> {
      const target = frame.current?.contentWindow;
      if (!target || source !== target || !isCall(data)) return;
      // The frame has no origin that could be named; the answer goes to the window that asked.
      target.postMessage({ parlour: "answer", id: data.id, ...(await answered(data)) }, "*");
    }
    addEventListener("message", onMessage);
    return () => removeEventListener("message", onMessage);
  }, [author, name, page]);
  return (
    <iframe
      ref={frame}
      title={title}
      src={within(`/api/v1/plugins/${author}/${name}/pages/${encodeURIComponent(page)}/document`)}
      sandbox="allow-scripts allow-forms"
      referrerPolicy="no-referrer"
      className="h-[70vh] min-h-96 w-full rounded-card border border-line bg-white"
    />
  );
}
