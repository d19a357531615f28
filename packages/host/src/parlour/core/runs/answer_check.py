"""Decides from stored data whether an interrupted run had already given its complete answer.

No result says that a message is the runner's last one. A run therefore counts as answered if its last result is a
complete message and nothing that it started is open: no tool call, model call, approval, state write or partly shown
message.
"""

from parlour.core.encoding import loads
from parlour.core.journal import Journal, Row, Select, where
from parlour.core.store.ledger import Ledger
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.store.tables import APPROVALS, CALLS

from .run_state import load_progress
from .usage import OPEN_CALLS_KEY


async def is_answered(journal: Journal, run: Row) -> bool:
    """Returns whether the interrupted run had given its complete answer."""
    run_id = run["run_id"]
    if not run["shown"] or loads(run["usage"]).get(OPEN_CALLS_KEY):
        return False
    progress = await load_progress(Ledger(journal), run_id)
    if not progress.ends_with_message or progress.open_tools:
        return False
    open_calls = Select(CALLS, where(run_id=run_id, state="begun"), ("position",), limit=1)
    open_approvals = Select(APPROVALS, where(run_id=run_id, status="pending"), ("approval_id",), limit=1)
    if await journal.read(open_calls) or await journal.read(open_approvals):
        return False
    return not await OutboxStore(journal).streaming_rows(run_id)
