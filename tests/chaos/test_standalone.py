"""The same is seen of each behaviour where plugins are in a runtime of their own, over a WebSocket."""

from collections.abc import Iterator

import pytest

from tests.integration.standalone import StandaloneHost

from .chaos import QUICKLY, Chaos, chaos_in
from .test_refusals import (  # noqa: F401 - what is asked there is asked again here
    test_an_ended_run_can_not_be_used_any_more,
    test_another_plugins_run_gets_neither_results_nor_calls,
)
from .test_seen import (  # noqa: F401
    test_a_plugin_that_harms_itself_is_ended_in_words_and_serves_again,
    test_a_plugin_that_reaches_for_others_answers_for_itself_only,
    test_a_run_that_ignores_its_cancellation_is_over_for_whoever_cancelled_it_and_its_process_is_replaced,
    test_each_invalid_result_is_dropped_and_named_in_the_log,
)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def chaos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chaos]:
    with chaos_in(StandaloneHost(tmp_path_factory.mktemp("chaos apart"), **QUICKLY)) as chaos:
        yield chaos
