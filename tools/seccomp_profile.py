"""Writes `deploy/image/seccomp.json`, the profile of system calls with which bubblewrap works in a container.

Container engines forbid namespaces and mounts to processes without capabilities, and so the sandbox of each plugin.
This profile allows them, and denies what neither the Host nor a sandbox needs. The kernel checks rights as before: a
process without capabilities can mount something only in a namespace of its own.
"""

import json
import sys
from pathlib import Path

from parlour.isolation.seccomp import DENIED_NAMES, UNSUPPORTED_NAMES

FILE = Path(__file__).parents[1] / "deploy" / "image" / "seccomp.json"
NEEDED_BY_SANDBOXES = frozenset({"mount", "umount2", "pivot_root"})
"""Calls of bubblewrap, which it denies to the plugin before it starts it."""
OF_THE_MACHINE = frozenset(
    (
        *("acct", "clock_adjtime", "clock_adjtime64", "clock_settime", "clock_settime64", "settimeofday", "stime"),
        *("create_module", "delete_module", "finit_module", "get_kernel_syms", "init_module", "query_module"),
        *("ioperm", "iopl", "kcmp", "lookup_dcookie", "nfsservctl", "quotactl", "quotactl_fd", "reboot", "swapoff"),
        *("swapon", "sysfs", "_sysctl", "syslog", "uselib", "ustat", "vhangup", "vm86", "vm86old", "fanotify_init"),
        *("open_by_handle_at", "name_to_handle_at", "setns", "move_pages", "migrate_pages"),
    )
)
"""Calls that change or look into the machine below the container."""
ARCHITECTURES = ("SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64", "SCMP_ARCH_RISCV64")
EPERM, ENOSYS = 1, 38


def profile() -> str:
    """Returns the profile in the format of Docker, Podman and Kubernetes."""
    denied = sorted((DENIED_NAMES - NEEDED_BY_SANDBOXES) | OF_THE_MACHINE)
    rules = [
        {"names": denied, "action": "SCMP_ACT_ERRNO", "errnoRet": EPERM},
        {"names": sorted(UNSUPPORTED_NAMES), "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS},
    ]
    # Without subarchitectures, calls of 32-bit programs end the process, as their numbers differ.
    listed = [{"architecture": name, "subArchitectures": []} for name in ARCHITECTURES]
    content = {"defaultAction": "SCMP_ACT_ALLOW", "archMap": listed, "syscalls": rules}
    return json.dumps(content, indent=1) + "\n"


def main() -> int:
    FILE.write_text(profile(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
