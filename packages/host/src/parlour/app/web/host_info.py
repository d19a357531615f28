"""Collects information about the running Host for `GET /info` and the gauges of `GET /metrics`."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from parlour.app.host import Host
from parlour.app.settings import HostSettings
from parlour.core.models.catalogue import common_currency
from parlour.core.observability.metrics import Sample
from parlour.version import VERSION
from parlour_sdk.protocol.base import PROTOCOL_VERSION

from .connection_limits import ConnectionLimiter

if TYPE_CHECKING:
    from parlour.http.bots.callback_check import CallbackCheck
    from parlour.http.info import Info


REMOTE_STATUSES = ("queued", "claimed", "running")


def host_info(host: Host) -> "Info":
    """Returns what clients should know beforehand, such as limits and features."""
    settings, values, models = host.settings, host.live_settings.values(), host.models
    return {
        "version": VERSION,
        "time": host.clock.now(),
        "protocol": PROTOCOL_VERSION,
        "limits": {
            "body_bytes": settings.http.body_bytes,
            "chat_frame_bytes": settings.http.chat_frame_bytes,
            "upload_bytes": settings.http.upload_bytes,
        },
        "outbound_ips": values["workspace.outbound_ips"],
        "time_zone": values["workspace.time_zone"],
        "currency": values["workspace.currency"] or common_currency(models.repository, models.catalogue),
        "features": _features(settings),
    }


def _features(settings: HostSettings) -> dict[str, bool]:
    """Returns which optional features the settings enable."""
    return {
        "mcp_stdio": settings.mcp.allow_unsandboxed,
        "object_storage": settings.artifacts.store == "s3",
        "postgresql": bool(settings.database.url.get_secret_value()),
        "standalone_runtime": bool(settings.runtime.url),
        "traces": bool(settings.telemetry.endpoint),
    }


def callback_check(host: Host) -> "CallbackCheck":
    """Returns the check of the addresses at which platforms call this Host."""
    from parlour.http.bots.callback_check import CallbackCheck

    def outbound_ips() -> list[str]:
        return list(host.live_settings.values()["workspace.outbound_ips"])

    return CallbackCheck(host.settings.http.public_address, host.secrets, outbound_ips)


def gauges(host: Host, limits: ConnectionLimiter | None) -> Iterator[Sample]:
    """Yields the current values of the gauges."""
    plugins = Counter(supervisor.status for supervisor in host.runtime.supervisors().values())
    all_bots = host.bots.bots()
    bots = Counter(bot.state for bot in all_bots)
    for name, states, label in (("parlour_plugins", plugins, "status"), ("parlour_bots", bots, "state")):
        yield from (Sample(name, ((label, state),), count) for state, count in sorted(states.items()))
    for (platform, state), count in sorted(Counter((bot.adapter, bot.state) for bot in all_bots).items()):
        yield Sample("parlour_platform_bots", (("platform", platform), ("state", state)), count)
    yield Sample("parlour_active_runs", (), len(list(host.core.sessions.all())))
    yield Sample("parlour_workers", (), host.core.workers.active_count)
    remote_runs: Counter[str] = Counter(run.status for run in host.core.remote_queue.all())
    yield from (Sample("parlour_remote_runs", (("status", each),), remote_runs[each]) for each in REMOTE_STATUSES)
    if limits is not None:
        yield Sample("parlour_connections", (), limits.open)
    if host.cluster is not None:
        for kind, count in sorted(host.cluster.part_counts().items()):
            yield Sample("parlour_cluster_parts", (("kind", kind),), count)
