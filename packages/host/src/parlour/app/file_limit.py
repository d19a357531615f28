"""Calculates how many connections fit into the process's limit of open files."""

import resource

MIN_RESERVED_FILES = 128
"""Open files that are reserved for the database, plugins and everything else; a quarter of all, if that is more."""


def connections_within_file_limit(wanted: int) -> int:
    """Returns `wanted`, or less if the limit of open files is lower."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return wanted
    return max(1, min(wanted, files - max(MIN_RESERVED_FILES, files // 4)))
