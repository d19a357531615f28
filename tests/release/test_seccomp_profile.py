"""Tests that the shipped profile of system calls allows what bubblewrap needs, and denies what concerns the machine."""

import json

from parlour.isolation.seccomp import DENIED_NAMES, UNSUPPORTED_NAMES
from tools.seccomp_profile import FILE, NEEDED_BY_SANDBOXES, profile

NEEDED = {"clone", "clone3", "unshare", "mount", "umount2", "pivot_root", "sethostname", "prctl", "seccomp"}
"""Calls of bubblewrap that engines deny to processes without capabilities, and some that it always makes."""
DANGEROUS = {"bpf", "kexec_load", "init_module", "reboot", "swapon", "settimeofday", "open_by_handle_at", "setns"}


def test_the_file_is_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == profile(), "run make documents"


def test_sandboxes_can_be_made_and_the_machine_is_out_of_reach() -> None:
    content = json.loads(profile())
    denied = {name for rule in content["syscalls"] for name in rule["names"]}

    assert content["defaultAction"] == "SCMP_ACT_ALLOW"
    assert {rule["action"] for rule in content["syscalls"]} == {"SCMP_ACT_ERRNO"}
    assert not denied & NEEDED
    assert denied >= DANGEROUS
    assert denied >= (DENIED_NAMES | UNSUPPORTED_NAMES) - NEEDED_BY_SANDBOXES, "as strict as the filter of plugins"
