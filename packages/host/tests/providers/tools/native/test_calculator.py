"""Arithmetic on expressions of a model; an expensive expression is refused before it is computed."""

import pytest

from parlour.providers.tools.native.calculator import Calculator, NotCalculable, evaluate, format_number
from parlour_sdk.protocol.content import plain_text

from ..sources import ASKING


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2 * (3 + 4)", "14"),
        (" 7 // 2 + 7 % 2 ", "4"),
        ("0.1 + 0.2", "0.3"),
        ("2 ** 100", "1267650600228229401496703205376"),
        ("2 ** -1", "0.5"),
        ("2^10 * 3", "3072"),
        ("-(-3)", "3"),
        ("sqrt(16) + max(1, 2, 3)", "7"),
        ("round(2.567, 2)", "2.57"),
        ("round(1234, -2)", "1200"),
        ("factorial(20)", "2432902008176640000"),
        ("sin(pi / 2)", "1"),
        ("1e3", "1000"),
    ],
)
def test_an_expression_is_calculated(expression: str, result: str) -> None:
    assert format_number(evaluate(expression)) == result


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("__import__('os')", "only numbers"),
        ("(1).__class__", "only numbers"),
        ("[1 for _ in range(9)]", "only numbers"),
        ("'a' * 3", "only numbers"),
        ("True", "only numbers"),
        ("1 / 0", "divides by zero"),
        ("9 ** 9 ** 9", "too large"),
        ("9.0 ** 999999", "too large"),
        ("factorial(100000)", "too large"),
        ("factorial(1.5)", "whole number"),
        ("round(5, -1000000000)", "at most 300 places"),
        ("exp(10000)", "too large"),
        ("(-1) ** 0.5", "not a real number"),
        ("sqrt(-1)", "can't be calculated"),
        ("sqrt(1, 2)", "wrong number"),
        ("max()", "can't be calculated"),
        ("2 +", "can't be calculated"),
        ("", "can't be calculated"),
        ("-" * 500 + "1", "nested"),
        ("(" * 400 + "1" + ")" * 400, "can't be calculated"),
        ("1" * 1001, "longer than 1000"),
        ("factorial(1000) ** 2 * factorial(1000)", "too large"),
        ("1 if 1 else 2", "only numbers"),
    ],
)
def test_an_invalid_or_endless_expression_is_refused_with_a_reason(expression: str, reason: str) -> None:
    with pytest.raises(NotCalculable, match=reason):
        evaluate(expression)


async def test_a_refusal_is_passed_to_the_model() -> None:
    outcome = await Calculator().call(ASKING, {"expression": "1 / 0"})
    assert (outcome.is_error, plain_text(outcome.content)) == (True, "expression: it divides by zero")
