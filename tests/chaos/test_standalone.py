"""Tests the same effects of each behaviour with plugins in a standalone runtime, over a WebSocket."""

from collections.abc import Iterator

import pytest

from tests.support.standalone import StandaloneHost

from .chaos import QUICK_RECOVERY, Chaos, chaos_in
from .test_behaviours import (  # noqa: F401
    test_a_plugin_that_attacks_other_parts_completes_its_own_run_only,
    test_a_plugin_that_harms_itself_is_ended_with_a_reason_and_serves_again,
    test_a_run_that_ignores_its_cancellation_is_cancelled_at_once_and_its_process_is_replaced,
    test_each_invalid_result_is_dropped_and_named_in_the_log,
)
from .test_refusals import (  # noqa: F401 - the same tests run again here
    test_an_ended_run_can_not_be_used_for_calls,
    test_another_plugins_run_gets_neither_results_nor_calls,
)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def chaos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chaos]:
    with chaos_in(StandaloneHost(tmp_path_factory.mktemp("chaos apart"), **QUICK_RECOVERY)) as chaos:
        yield chaos
