"""Tool that evaluates arithmetic expressions: they are parsed, never executed, with size limits at every step."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from parlour.core.model.providers import CallContext
from parlour_sdk.protocol.tools import ToolOutcome

from ..source import OfferedTool, error_outcome, text_outcome
from .tools import PROVIDER

MAX_EXPRESSION_CHARACTERS = 1000
MAX_DEPTH = 100
MAX_INTEGER_BITS = 10_000
"""Maximum size of an integer in bits, about 3000 decimal digits."""
MAX_FACTORIAL_ARGUMENT = 1000
MAX_ROUND_PLACES = 300

Number = int | float
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: lambda base, exponent: _power(base, exponent),
}
_SIGNS: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_CONSTANTS: Mapping[str, Number] = {"pi": math.pi, "e": math.e, "tau": math.tau}
_FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "abs": abs,
    "ceil": math.ceil,
    "cos": math.cos,
    "degrees": math.degrees,
    "exp": math.exp,
    "factorial": lambda value: _factorial(value),
    "floor": math.floor,
    "gcd": math.gcd,
    "ln": math.log,
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
    "radians": math.radians,
    "round": lambda *values: _rounded(*values),
    "sin": math.sin,
    "sqrt": math.sqrt,
    "tan": math.tan,
}


class NotCalculable(Exception):
    """Raised with the reason why an expression can't be evaluated."""


class Calculator:
    definition = OfferedTool(
        "calculator.evaluate",
        "native",
        PROVIDER,
        "Calculates an arithmetic expression with + - * / // % and powers (** or ^), parentheses, pi, e and functions "
        "such as sqrt, sin, log, round, min, max and factorial. Whole numbers are exact.",
        {
            "type": "object",
            "properties": {"expression": {"type": "string", "description": "For example: (3 + 4) * sqrt(2)"}},
            "required": ["expression"],
            "additionalProperties": False,
        },
        read_only=True,
    )

    async def call(self, context: CallContext, parameters: dict[str, Any]) -> ToolOutcome:
        try:
            return text_outcome(format_number(evaluate(parameters["expression"])))
        except NotCalculable as problem:
            return error_outcome(f"expression: {problem}")


def evaluate(expression: str) -> Number:
    """Evaluates an expression. Raises NotCalculable."""
    if len(expression) > MAX_EXPRESSION_CHARACTERS:
        raise NotCalculable(f"it is longer than {MAX_EXPRESSION_CHARACTERS} characters")
    try:
        return _value(ast.parse(expression.strip().replace("^", "**"), mode="eval").body, 0)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotCalculable("this can't be calculated; write arithmetic such as 2 * (3 + 4)") from error
    except ZeroDivisionError as error:
        raise NotCalculable("it divides by zero") from error
    except OverflowError as error:
        raise NotCalculable("its result is too large") from error
    except TypeError as error:
        raise NotCalculable("a function got the wrong number or kind of values") from error


def format_number(value: Number) -> str:
    return str(value) if isinstance(value, int) else f"{value:.15g}"


def _value(node: ast.expr, depth: int) -> Number:
    if depth > MAX_DEPTH:
        raise NotCalculable(f"it is nested more than {MAX_DEPTH} deep")
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _SIGNS:
            return _bounded(_SIGNS[type(sign)](_value(operand, depth + 1)))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _bounded(_OPERATORS[type(sign)](_value(left, depth + 1), _value(right, depth + 1)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _bounded(_FUNCTIONS[name](*(_value(each, depth + 1) for each in arguments)))
        case _:
            names = ", ".join([*_CONSTANTS, *_FUNCTIONS])
            raise NotCalculable(f"only numbers, + - * / // % ** and these are known: {names}")


def _bounded(value: Any) -> Number:
    if isinstance(value, complex):
        raise NotCalculable("its result is not a real number")
    if isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            raise OverflowError
        return value
    if not math.isfinite(value):
        raise OverflowError
    return float(value)


def _power(base: Number, exponent: Number) -> Any:
    """Raises to a power. The size is checked before, because computing a huge power would take too long."""
    are_integers = isinstance(base, int) and isinstance(exponent, int)
    if are_integers and abs(base) > 1 and exponent * int(base).bit_length() > MAX_INTEGER_BITS:
        raise OverflowError
    return base**exponent


def _factorial(value: Number) -> int:
    if value > MAX_FACTORIAL_ARGUMENT:
        raise OverflowError
    if value != int(value):
        raise NotCalculable("factorial takes a whole number")
    return math.factorial(int(value))


def _rounded(value: Number, digits: Number = 0) -> Number:
    if not -MAX_ROUND_PLACES <= digits <= MAX_ROUND_PLACES:
        raise NotCalculable(f"round takes at most {MAX_ROUND_PLACES} places")
    return round(value, int(digits)) if digits else round(value)
