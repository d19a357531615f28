// Sorts a list by dragging a handle with any pointer, or with the arrow keys while the handle has the focus.
import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";

export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, index) => index !== from);
  return [...rest.slice(0, to), list[from]!, ...rest.slice(to)];
}

/** Returns the index for an element at `at` when the pointer is at `y`: it moves past the middle of its neighbour. */
export function placed(at: number, y: number, middles: readonly number[]): number {
  const above = middles[at - 1];
  const below = middles[at + 1];
  if (above !== undefined && y < above) return at - 1;
  if (below !== undefined && y > below) return at + 1;
  return at;
}

export function useSorting<Item extends HTMLElement>(count: number, onMove: (from: number, to: number) => void) {
  const list = useRef<Item>(null);
  const [held, setHeld] = useState<number | null>(null);
  const move = useRef(onMove);
  move.current = onMove;

  const middles = () =>
    [...(list.current?.children ?? [])].map((child) => {
      const { top, height } = child.getBoundingClientRect();
      return top + height / 2;
    });
  const take = (index: number, event: PointerEvent) => {
    if (event.button !== 0) return;
    event.preventDefault();
    let at = index;
    const follow = ({ clientY }: { clientY: number }) => {
      const next = placed(at, clientY, middles());
      if (next === at) return;
      move.current(at, next);
      at = next;
      setHeld(next);
    };
    const drop = () => {
      removeEventListener("pointermove", follow);
      removeEventListener("pointerup", drop);
      removeEventListener("pointercancel", drop);
      setHeld(null);
    };
    // on the window: the handle is moved in the document, which would end a pointer capture
    addEventListener("pointermove", follow);
    addEventListener("pointerup", drop);
    addEventListener("pointercancel", drop);
    setHeld(index);
  };
  const press = (index: number, event: KeyboardEvent) => {
    const to = index + ({ ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0);
    if (to === index || to < 0 || to >= count) return;
    event.preventDefault();
    move.current(index, to);
  };
  const handle = (index: number) => ({
    onPointerDown: (event: PointerEvent) => take(index, event),
    onKeyDown: (event: KeyboardEvent) => press(index, event),
  });
  return { list, held, handle };
}
