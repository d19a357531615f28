// Keeps the end of a conversation in view, unless the user has scrolled up.
import { useEffect, useLayoutEffect, useRef, useState } from "react";

import type { ChatState } from "./chatState";

const NEAR = 80;

export function useStickToBottom(state: ChatState) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const height = useRef(0);
  const first = useRef<string | undefined>(undefined);
  const [away, setAway] = useState(false);
  useEffect(() => {
    const element = box.current;
    const look = () => {
      if (!element) return;
      atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
      setAway(!atEnd.current);
    };
    // images, collapsed parts and usage are rendered after the text
    const grown = new ResizeObserver(() => {
      if (element && atEnd.current) element.scrollTop = element.scrollHeight;
    });
    element?.addEventListener("scroll", look, { passive: true });
    if (element?.firstElementChild) grown.observe(element.firstElementChild);
    return () => {
      element?.removeEventListener("scroll", look);
      grown.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const earlier = first.current !== undefined && state.items[0]?.transcript_id !== first.current;
    if (atEnd.current) element.scrollTop = element.scrollHeight;
    else if (earlier) element.scrollTop += element.scrollHeight - height.current; // older lines were added above
    height.current = element.scrollHeight;
    first.current = state.items[0]?.transcript_id;
  }, [state]);
  const go = () => box.current?.scrollTo({ top: box.current.scrollHeight, behavior: "smooth" });
  return { box, away, go };
}
