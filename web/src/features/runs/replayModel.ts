// The frames of a run with their times, and the state of the chat at each time, without rendering.
import type { ChatFrame, ReplayFrame } from "../../api/frames";
import { applyFrame, type ChatState, EMPTY_CHAT } from "../chat/chatState";

const LONGEST_PAUSE = 2000;

export type TimedFrame = { frame: ChatFrame; offset: number };

/** Returns frames with their offsets; long pauses are shortened. */
export function timedFrames(frames: ReplayFrame[]): TimedFrame[] {
  let offset = 0;
  return frames.map((frame, index) => {
    const previous = frames[index - 1];
    offset += previous ? Math.min(LONGEST_PAUSE, Math.max(0, frame.at - previous.at)) : 0;
    return { frame: { ...frame, seq: index + 1 }, offset };
  });
}

export function duration(film: TimedFrame[]): number {
  return film.at(-1)?.offset ?? 0;
}

export function stateAt(film: TimedFrame[], elapsed: number): ChatState {
  return film
    .filter((timed) => timed.offset <= elapsed)
    .reduce((state, beat) => applyFrame(state, beat.frame), EMPTY_CHAT);
}
