"""Locks open files between processes. The system's lock library is loaded on first use: Windows has none."""


def lock_file(descriptor: int) -> None:
    """Waits until this process has the only lock of the file."""
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX)


def try_lock_file(descriptor: int) -> bool:
    """Locks the file if no other process has locked it, and returns whether it did."""
    import fcntl

    return _try(descriptor, fcntl.LOCK_EX)


def try_share_file(descriptor: int) -> bool:
    """Acquires a lock that excludes only `lock_file` and `try_lock_file`, and returns whether it did."""
    import fcntl

    return _try(descriptor, fcntl.LOCK_SH)


def unlock_file(descriptor: int) -> None:
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _try(descriptor: int, kind: int) -> bool:
    import fcntl

    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
