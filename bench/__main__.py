"""Measures and prints: `python -m bench [spine] [onebot] [history] [idle] [wire] [writers] [runners] [agent] [policies]
[others] [--database postgres]`.

Exit status 1 means that something could not be measured.
"""

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from . import agent, environment, history, idle, onebot, others, page, policies, runners, spine, wire, writers
from .databases import DATABASES
from .host import Unmeasurable
from .messages import WORDS
from .report import Figure, Report

NAMES = ("spine", "onebot", "history", "idle", "wire", "writers", "runners", "agent", "policies", "others")
BY_DEFAULT = ("spine", "onebot", "idle", "wire")
"""Benchmarks that run without arguments. `history` is left out, since writing a million items takes some minutes, and
`writers`, `runners` and `policies`, which concern few Hosts. `agent` measures no time; `others` installs 800 MB."""
Measure = Callable[[Path], Coroutine[Any, Any, list[Figure]]]


def main() -> int:
    parser = _parser()
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(NAMES):
        parser.error(f"there is no benchmark '{unknown.pop()}'; there are {', '.join(NAMES)}")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))  # clean exit, as with Ctrl-C
    started = time.perf_counter()
    with environment.work_folder() as folder:
        report = Report(environment.describe(folder, arguments.database))
        for name, measure in _selected_measures(arguments).items():
            print(f"measuring: {name} ...", file=sys.stderr, flush=True)
            try:
                report.add(name, _run(measure, folder))
            except (Unmeasurable, TimeoutError, OSError, LookupError) as error:
                report.failures.append(f"{name}: {type(error).__name__}: {error}")
    report.environment["took"] = f"{time.perf_counter() - started:.0f} s"
    report.environment["load after"] = f"{environment.load()} (1, 5, 15 min; ours is in it)"
    print(report.text())
    if arguments.json:
        report.write(arguments.json)
    if arguments.page:
        page.record(report, arguments.database)
    return 1 if report.failures or (arguments.check and report.missed) else 0


def _run(measure: Measure, folder: Path) -> list[Figure]:
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(measure(folder))


def _selected_measures(arguments: argparse.Namespace) -> dict[str, Measure]:
    quick = arguments.quick
    every: dict[str, Measure] = {
        "spine": lambda folder: spine.measure(
            folder, DATABASES[arguments.database], spine.QUICK if quick else spine.FULL, arguments.words
        ),
        "onebot": lambda folder: onebot.measure(folder, onebot.QUICK if quick else onebot.FULL),
        "history": lambda folder: history.measure(
            folder, DATABASES[arguments.database], history.QUICK if quick else history.FULL
        ),
        "idle": lambda folder: idle.measure(folder, idle.QUICK if quick else idle.FULL),
        "wire": lambda folder: wire.measure(wire.QUICK if quick else wire.FULL),
        "writers": lambda folder: writers.measure(writers.QUICK if quick else writers.FULL),
        "runners": lambda folder: runners.measure(folder, runners.QUICK if quick else runners.FULL),
        "policies": lambda folder: policies.measure(folder, policies.QUICK if quick else policies.FULL),
        "others": lambda folder: others.measure(folder, others.QUICK if quick else others.FULL),
        "agent": lambda folder: agent.measure(agent.QUICK_TURNS if quick else agent.TURNS),
    }
    return {name: measure for name, measure in every.items() if name in (arguments.names or BY_DEFAULT)}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures a real Host on this machine.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar=" | ".join(NAMES),
        help=f"default: {', '.join(BY_DEFAULT)}",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--page", action="store_true", help="keep the figures, and write them into the documentation")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, under 40 s")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    parser.add_argument(
        "--database",
        choices=sorted(DATABASES),
        default="sqlite",
        help="the Host's database (spine, history)",
    )
    parser.add_argument("--words", type=int, default=WORDS, help="words, and so fragments, per message (spine)")
    return parser


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
