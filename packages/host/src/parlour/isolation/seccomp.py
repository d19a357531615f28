"""The seccomp filter for sandboxed processes: a BPF program that needs no library, on the processors listed here.

It denies kernel interfaces that plugins have no use for and that have a record of privilege escalations: io_uring, bpf,
kernel keys, perf events, userfaultfd, mounts and kexec. System calls of another architecture (32-bit and x32) are
denied too, since their numbers differ.
"""

import contextlib
import errno
import os
import platform
import struct
from collections.abc import Iterator
from functools import cache

from parlour_sdk.values import dataclass

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET = 0, 4
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_X32_NUMBERS = 0x40000000
_UNSUPPORTED_CALLS = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427}
"""Denied with ENOSYS, so that programs fall back to older system calls."""
_NEW_MOUNTS = {
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "mount_setattr": 442,
    "open_tree_attr": 467,
}
"""These have the same numbers on every processor."""
_X86_64 = {
    "pivot_root": 155,
    "mount": 165,
    "umount2": 166,
    "kexec_load": 246,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "perf_event_open": 298,
    "kexec_file_load": 320,
    "bpf": 321,
    "userfaultfd": 323,
}
_GENERIC = {
    "umount2": 39,
    "mount": 40,
    "pivot_root": 41,
    "kexec_load": 104,
    "add_key": 217,
    "request_key": 218,
    "keyctl": 219,
    "perf_event_open": 241,
    "bpf": 280,
    "userfaultfd": 282,
    "kexec_file_load": 294,
}
DENIED_NAMES = frozenset({*_X86_64, *_NEW_MOUNTS})
UNSUPPORTED_NAMES = frozenset(_UNSUPPORTED_CALLS)


@dataclass(frozen=True, slots=True)
class Processor:
    audit_number: int
    numbers: dict[str, int]


PROCESSORS = {
    "x86_64": Processor(0xC000003E, _X86_64),
    "aarch64": Processor(0xC00000B7, _GENERIC),
    "riscv64": Processor(0xC00000F3, _GENERIC),
}


def is_supported() -> bool:
    return platform.machine() in PROCESSORS


@cache
def program(machine: str) -> bytes:
    """Returns the filter in the form that `bwrap --seccomp` reads."""
    processor = PROCESSORS[machine]
    forbidden = sorted({*processor.numbers.values(), *_NEW_MOUNTS.values()})
    missing = sorted(_UNSUPPORTED_CALLS.values())
    checks = [(_EQUAL, number, errno.EPERM) for number in forbidden]
    checks += [(_EQUAL, number, errno.ENOSYS) for number in missing]
    if machine == "x86_64":
        checks.insert(0, (_AT_LEAST, _X32_NUMBERS, errno.ENOSYS))
    # After the checks come three returns: allowed, EPERM, ENOSYS.
    returns = {errno.EPERM: 1, errno.ENOSYS: 2}
    lines = [
        _line(_LOAD, _ARCHITECTURE_OFFSET),
        _line(_EQUAL, processor.audit_number, 0, 1 + len(checks) + returns[errno.ENOSYS]),
        _line(_LOAD, _NUMBER_OFFSET),
    ]
    for position, (comparison, value, answer) in enumerate(checks, 1):
        lines.append(_line(comparison, value, len(checks) - position + returns[answer]))
    lines += [_line(_RETURN, value) for value in (_ALLOW, _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS)]
    return b"".join(lines)


@contextlib.contextmanager
def open_filter() -> Iterator[int]:
    """Yields a descriptor from which bubblewrap reads the filter of this machine once."""
    content = program(platform.machine())
    read_end, write_end = os.pipe()
    try:
        os.write(write_end, content)  # far less than a pipe holds
    finally:
        os.close(write_end)
    try:
        yield read_end
    finally:
        os.close(read_end)


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
