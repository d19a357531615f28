"""Finds processes by their command lines. Their ids are unknown, because they start inside sandboxes."""

import psutil


def processes_naming(text: str) -> list[psutil.Process]:
    """Returns the running processes whose command line contains a text."""
    found = psutil.process_iter(["cmdline", "status"])
    return [each for each in found if any(text in word for word in each.info["cmdline"] or ()) and _is_alive(each)]


def _is_alive(process: psutil.Process) -> bool:
    return bool(process.info["status"] != psutil.STATUS_ZOMBIE)
