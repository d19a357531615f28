"""Makes podman's profile of system calls stricter: no namespaces, mounts, keys, and what else sandboxes never need.

Podman allows those calls, since the kernel checks their rights. A namespace of users gives rights to code of the kernel
that others never reach. Docker's own profile denies them already.
"""

import errno
import json
from pathlib import Path
from typing import Any, Final

from parlour.isolation import seccomp

CLONE_NAMESPACES: Final = 0x7E020000
"""Flags of `clone` that make namespaces."""
DENIED: Final = sorted({*seccomp.DENIED_NAMES, "unshare", "setns", "umount"})
UNSUPPORTED: Final = sorted({*seccomp.UNSUPPORTED_NAMES, "clone3"})
"""Denied as if the kernel did not have them, so that programs use older calls."""


def write_profile(source: Path, target: Path) -> bool:
    """Writes the stricter profile. Returns whether there is a profile that can be made stricter."""
    try:
        profile = json.loads(source.read_text())
        content = json.dumps(stricter(profile))
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.write_text(content)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


def stricter(profile: dict[str, Any]) -> dict[str, Any]:
    """Returns a profile without these calls."""
    removed = {*DENIED, *UNSUPPORTED, "clone"}
    kept = [{**rule, "names": [name for name in rule["names"] if name not in removed]} for rule in profile["syscalls"]]
    clone = {"index": 0, "value": CLONE_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    added = [
        {"names": DENIED, "action": "SCMP_ACT_ERRNO", "errnoRet": errno.EPERM},
        {"names": UNSUPPORTED, "action": "SCMP_ACT_ERRNO", "errnoRet": errno.ENOSYS},
        {"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [clone]},
    ]
    return {**profile, "syscalls": [*(rule for rule in kept if rule["names"]), *added]}
