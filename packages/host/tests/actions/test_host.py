"""Facts about the Host, and the table of what it does."""

from parlour.actions.host import HostActions
from parlour.core.runs.session import RunSession
from parlour_sdk.protocol.base import PROTOCOL_VERSION
from parlour_sdk.protocol.run_api import HostVersionGet


async def test_a_run_is_told_the_hosts_version_and_protocol(session: RunSession) -> None:
    answer = await HostActions("9.9").version(session, HostVersionGet(run_id="run", call_id="run:1"))
    assert (answer.version, answer.protocol) == ("9.9", PROTOCOL_VERSION)
