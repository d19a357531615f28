// Replays a run as its users saw it, at the original speed or faster.
import { useQuery } from "@tanstack/react-query";
import { Pause, Play, RotateCcw } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import type { Run, RunDetail } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Select } from "../../components/Field";
import { Markdown } from "../../components/Markdown";
import { formatDuration } from "../../lib/format";
import { type ChatState, lines } from "../chat/chatState";
import { Message, MessageList } from "../chat/MessageList";
import { Notice } from "../chat/Notices";
import { ToolCalls } from "../chat/ToolCalls";
import * as runQueries from "./queries";
import { duration, stateAt, type TimedFrame, timedFrames } from "./replayModel";

const SPEEDS = [0.5, 1, 2, 4];
const NO_RUNS = new Map<string, Run>();

export function Replay({ run }: { run: RunDetail }) {
  const replay = useQuery(runQueries.replay(run.run_id));
  const film = useMemo(() => timedFrames(replay.data?.frames ?? []), [replay.data]);
  if (replay.error) return <ErrorMessage error={replay.error} />;
  if (!replay.data) return <Loading />;
  return (
    <Film film={film} asked={run.event?.input_summary ?? run.input_summary ?? ""} complete={replay.data.complete} />
  );
}

function Film({ film, asked, complete }: { film: TimedFrame[]; asked: string; complete: boolean }) {
  const { t } = useTranslation();
  const total = duration(film);
  const player = usePlayer(total);
  const state = useMemo(() => stateAt(film, player.elapsed), [film, player.elapsed]);
  return (
    <section
      aria-label={t("runs.replay")}
      className="overflow-hidden rounded-card border border-line bg-surface shadow-card"
    >
      <div className="min-h-56 space-y-5 p-5">
        {asked && (
          <Message
            line={{ key: "asked", role: "you", text: asked, thinking: "", files: [], runId: null, isPending: false }}
          />
        )}
        <Screen state={state} />
        {!complete && <p className="text-sm text-quiet">{t("runs.replayCut")}</p>}
      </div>
      <Controls player={player} whole={total} />
    </section>
  );
}

function Screen({ state }: { state: ChatState }) {
  return (
    <>
      <MessageList lines={lines(state.items, state.pending, state.thoughts)} runs={NO_RUNS} tools={state.tools} />
      {state.running && <ToolCalls calls={state.tools[state.running]} />}
      {state.draft && <Markdown text={state.draft} />}
      {state.notices.map((notice) => (
        <Notice key={notice.seq} notice={notice} />
      ))}
    </>
  );
}

function Controls({ player, whole }: { player: ReturnType<typeof usePlayer>; whole: number }) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-wrap items-center gap-3 border-t border-line bg-raised/50 px-4 py-3">
      <Button small weight="primary" onClick={player.toggle}>
        {player.playing ? <Pause aria-hidden className="size-4" /> : <Play aria-hidden className="size-4" />}
        {t(player.playing ? "runs.pause" : "runs.play")}
      </Button>
      <IconButton label={t("runs.fromStart")} onClick={() => player.go(0)}>
        <RotateCcw className="size-4" />
      </IconButton>
      <input
        type="range"
        aria-label={t("runs.position")}
        aria-valuetext={formatDuration(player.elapsed)}
        min={0}
        max={whole || 1}
        value={player.elapsed}
        onChange={(event) => player.go(Number(event.target.value))}
        className="h-1.5 min-w-32 flex-1 accent-(--accent)"
      />
      <span className="text-sm text-quiet tabular-nums">
        {formatDuration(player.elapsed)} / {formatDuration(whole)}
      </span>
      <Select
        fits
        aria-label={t("runs.speed")}
        className="h-8 text-sm"
        value={player.speed}
        onChange={(event) => player.setSpeed(Number(event.target.value))}
      >
        {SPEEDS.map((speed) => (
          <option key={speed} value={speed}>
            {speed}×
          </option>
        ))}
      </Select>
    </div>
  );
}

/** Starts at the end, so that the whole run can be read without playing it. */
function usePlayer(total: number) {
  const [elapsed, setElapsed] = useState(total);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  useEffect(() => {
    if (!playing) return;
    let lastTick = performance.now();
    let frame = requestAnimationFrame(function tick(now) {
      const elapsedNow = (now - lastTick) * speed;
      lastTick = now;
      setElapsed((last) => Math.min(total, last + elapsedNow));
      frame = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing, speed, total]);
  useEffect(() => {
    if (elapsed >= total) setPlaying(false);
  }, [elapsed, total]);
  const toggle = () => {
    if (!playing && elapsed >= total) setElapsed(0);
    setPlaying(!playing);
  };
  return { elapsed, playing, speed, setSpeed, toggle, go: (to: number) => setElapsed(to) };
}
