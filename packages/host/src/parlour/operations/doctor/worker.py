"""Checks whether a worker on this machine can connect to its Host with its API key."""

from collections.abc import AsyncIterator

from parlour.app.settings import HostSettings
from parlour.app.worker.link import HostRefused
from parlour.app.worker.process import worker_identity
from parlour.core.redaction import Redactor
from parlour_sdk.wire import WireError
from parlour_sdk.wire.websocket import connect

from .finding import Finding, ok, warning

OPEN_SECONDS = 10.0


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    """Yields nothing on a machine without a worker."""
    worker = settings.worker
    if not worker.url:
        return
    try:
        identity = worker_identity(worker, Redactor())
        (await connect(identity.address, identity.token(), timeout=OPEN_SECONDS)).close()
    except HostRefused as error:
        yield warning("worker", str(error), "set worker.token_file")
    except WireError as error:
        remedy = "check worker.url, and that the API key there has the scope worker"
        yield warning("worker", f"the worker can't execute runs: {error.message}", remedy)
    else:
        yield ok("worker", f"the worker {identity.name} can connect to the Host at {worker.url}")
