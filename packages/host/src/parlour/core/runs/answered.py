"""Decides whether a run that was cut off had already given its whole answer, from what is durable.

Nothing says that a message is a runner's last one. So a run counts as answered if its last result is a whole message
and nothing that it began is open: no tool call, model call, approval, state write or message that is shown in part.
"""

from parlour.core.encoding import loads
from parlour.core.journal import Journal, Row, Select, where
from parlour.core.store.ledger import Ledger
from parlour.core.store.outbox_rows import OutgoingRows
from parlour.core.store.tables import APPROVALS, CALLS

from .run_state import recall
from .usage import CALLING


async def is_answered(journal: Journal, run: Row) -> bool:
    run_id = run["run_id"]
    if not run["shown"] or loads(run["usage"]).get(CALLING):
        return False
    progress = await recall(Ledger(journal), run_id)
    if not progress.ends_with_message or progress.open_tools:
        return False
    open_calls = Select(CALLS, where(run_id=run_id, state="begun"), ("position",), limit=1)
    open_approvals = Select(APPROVALS, where(run_id=run_id, status="pending"), ("approval_id",), limit=1)
    if await journal.read(open_calls) or await journal.read(open_approvals):
        return False
    return not await OutgoingRows(journal).streaming(run_id)
