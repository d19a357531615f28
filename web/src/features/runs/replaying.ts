// A run's frames as a film: when each comes, and what the chat showed by then. Knows no screen.
import type { Replay } from "../../api/types";
import { type ChatLog, EMPTY, type Frame, withFrame } from "../chat/log";

const LONGEST_PAUSE = 2000;

export type Beat = { frame: Frame; offset: number };

/** Nobody wants to wait once more for what took long then: pauses are cut short. */
export function beats(frames: Replay["frames"]): Beat[] {
  let offset = 0;
  return frames.map((frame, index) => {
    const before = frames[index - 1];
    offset += before ? Math.min(LONGEST_PAUSE, Math.max(0, Number(frame.at) - Number(before.at))) : 0;
    return { frame: { ...frame, seq: index + 1 } as Frame, offset };
  });
}

export function duration(film: Beat[]): number {
  return film.at(-1)?.offset ?? 0;
}

export function shownBy(film: Beat[], elapsed: number): ChatLog {
  return film.filter((beat) => beat.offset <= elapsed).reduce((log, beat) => withFrame(log, beat.frame), EMPTY);
}
