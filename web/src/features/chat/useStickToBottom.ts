// Keeps the end of a conversation in view, unless the user has scrolled up.
import { useEffect, useLayoutEffect, useRef, useState } from "react";

import type { ChatState } from "./chatState";

const NEAR = 80;

export function useStickToBottom(state: ChatState) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const height = useRef(0);
  const firstId = useRef<string | undefined>(undefined);
  const [scrolledAway, setScrolledAway] = useState(false);
  useEffect(() => {
    const element = box.current;
    const checkPosition = () => {
      if (!element) return;
      atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
      setScrolledAway(!atEnd.current);
    };
    // images, collapsed parts and usage are rendered after the text
    const observer = new ResizeObserver(() => {
      if (element && atEnd.current) element.scrollTop = element.scrollHeight;
    });
    element?.addEventListener("scroll", checkPosition, { passive: true });
    if (element?.firstElementChild) observer.observe(element.firstElementChild);
    return () => {
      element?.removeEventListener("scroll", checkPosition);
      observer.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const hasEarlierItems = firstId.current !== undefined && state.items[0]?.transcript_id !== firstId.current;
    if (atEnd.current) element.scrollTop = element.scrollHeight;
    else if (hasEarlierItems) element.scrollTop += element.scrollHeight - height.current; // older lines were added above
    height.current = element.scrollHeight;
    firstId.current = state.items[0]?.transcript_id;
  }, [state]);
  const go = () => box.current?.scrollTo({ top: box.current.scrollHeight, behavior: "smooth" });
  return { box, away: scrolledAway, go };
}
