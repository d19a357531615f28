// Sorts a list by dragging a handle with any pointer, or with the arrow keys while the handle has the focus.
import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";

export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, index) => index !== from);
  return [...rest.slice(0, to), list[from]!, ...rest.slice(to)];
}

/** Returns the index for an element at `at` when the pointer is at `y`: it moves past the middle of its neighbour. */
export function placed(index: number, y: number, middles: readonly number[]): number {
  const previous = middles[index - 1];
  const next = middles[index + 1];
  if (previous !== undefined && y < previous) return index - 1;
  if (next !== undefined && y > next) return index + 1;
  return index;
}

export function useSorting<Item extends HTMLElement>(count: number, onMove: (from: number, to: number) => void) {
  const list = useRef<Item>(null);
  const [dragged, setDragged] = useState<number | null>(null);
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
    let position = index;
    const follow = ({ clientY }: { clientY: number }) => {
      const next = placed(position, clientY, middles());
      if (next === position) return;
      move.current(position, next);
      position = next;
      setDragged(next);
    };
    const drop = () => {
      removeEventListener("pointermove", follow);
      removeEventListener("pointerup", drop);
      removeEventListener("pointercancel", drop);
      setDragged(null);
    };
    // on the window: the handle is moved in the document, which would end a pointer capture
    addEventListener("pointermove", follow);
    addEventListener("pointerup", drop);
    addEventListener("pointercancel", drop);
    setDragged(index);
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
  return { list, held: dragged, handle };
}
