"""Values in the Prometheus text format are read back as they were counted."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from parlour.core.observability.metrics import Sample
from parlour.http.metrics.endpoints import format_samples


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1_234_567, "1234567"),
        (9_007_199_254_740_993, "9007199254740993"),
        (3.0, "3"),
        (1234567.891, "1234567.891"),
        (0.1 + 0.2, "0.30000000000000004"),
    ],
)
def test_a_value_keeps_all_its_digits(value: float, text: str) -> None:
    written = format_samples([Sample("parlour_cost_micros_total", (), value)])
    assert written.splitlines()[-1] == f"parlour_cost_micros_total {text}"
    [family] = text_string_to_metric_families(written)
    assert family.samples[0].value == value
