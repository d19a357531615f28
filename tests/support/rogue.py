"""Provides the rogue plugin and functions that find its processes."""

import psutil

from .harness import ROOT, Host, Json

ROGUE_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "rogue-agent"
ROGUE_ID = "test/rogue-agent"
ROGUE = f"plugin:{ROGUE_ID}/default"
QUICK = {"PARLOUR__PLUGINS__FIRST_RESTART_SECONDS": "0.05", "PARLOUR__PLUGINS__LONGEST_RESTART_SECONDS": "0.1"}


def sleepers(argument: str) -> list[psutil.Process]:
    """Returns the running processes `sleep <argument>`. Their pids are unknown, because they start inside a sandbox."""
    found = psutil.process_iter(["cmdline", "status"])
    return [each for each in found if (each.info["cmdline"] or [])[-1:] == [argument] and is_alive(each)]


def is_alive(process: psutil.Process) -> bool:
    return bool(process.info["status"] != psutil.STATUS_ZOMBIE)


def plugin(host: Host, plugin_id: str = ROGUE_ID) -> Json:
    """Returns the Host's response about the plugin."""
    [found] = [each for each in host.items("/plugins") if each["id"] == plugin_id]
    return found


def pids(host: Host, plugin_id: str = ROGUE_ID) -> set[int]:
    """Returns the processes that the Host knows as the plugin."""
    children = host.parent.children()
    folder = str(host.home / "plugins" / plugin_id)
    return {child.pid for child in children if any(folder in word for word in _command(child))}


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
