"""Runs the whole core on a seeded scheduler: no process, no sleep, a crash at any commit or send.

A schedule is a seed: it decides the messages and their times, the faults, and the order in which ready callbacks run.
"""

from .promises import BrokenPromise
from .schedule import Report, run_schedule, run_with_poison

__all__ = ["BrokenPromise", "Report", "run_schedule", "run_with_poison"]
