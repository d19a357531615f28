"""The whole core on a seeded scheduler: no process, no sleep, a crash at any commit or send.

A schedule is a seed: it decides who says what and when, what goes wrong, and in which order ready things happen.
"""

from .promises import BrokenPromise
from .schedule import Report, run_schedule, run_with_poison

__all__ = ["BrokenPromise", "Report", "run_schedule", "run_with_poison"]
