"""Text, numbers and containment compared in Python exactly as PostgreSQL compares them. Pure Python.

SQLite calls these as SQL functions, so that both databases give the same answers: numbers of any
size are exact, containment is that of ``@>``, and case folding is one character to one.
"""

from __future__ import annotations

import functools
import json
import sys
from decimal import Decimal

from agentstore.core.values import JSONValue

__all__ = ["contains", "exact_json", "fold", "fold_alphabets", "number_key", "same_json"]

_EXPONENT_OFFSET = 5_000_000  # jsonb numbers have exponents of at most about 131,072
_COMPLEMENT = str.maketrans("0123456789", "9876543210")


def exact_json(text: str) -> JSONValue:
    """Parse JSON with every number as an exact ``Decimal``."""
    return json.loads(text, parse_int=Decimal, parse_float=Decimal)


def contains(container: JSONValue, contained: JSONValue) -> bool:
    """Tell whether ``container @> contained`` holds, as PostgreSQL's jsonb decides it.

    Numbers of both must be ``Decimal`` (see ``exact_json``): 1 equals 1.0, true is not a number.
    """
    if isinstance(container, list) and not isinstance(contained, dict | list):
        return any(_equal_scalars(item, contained) for item in container)
    return _within(container, contained)


def _within(container: JSONValue, contained: JSONValue) -> bool:
    if isinstance(contained, dict):
        return isinstance(container, dict) and all(
            key in container and _within(container[key], value) for key, value in contained.items()
        )
    if isinstance(contained, list):
        return isinstance(container, list) and _includes(container, contained)
    return _equal_scalars(container, contained)


def _includes(container: list[JSONValue], contained: list[JSONValue]) -> bool:
    scalars = {(type(item), item) for item in container if not isinstance(item, dict | list)}
    return all(
        any(_within(candidate, item) for candidate in container)
        if isinstance(item, dict | list)
        else (type(item), item) in scalars
        for item in contained
    )


def _equal_scalars(left: JSONValue, right: JSONValue) -> bool:
    return type(left) is type(right) and bool(left == right)


def same_json(left: JSONValue, right: JSONValue) -> bool:
    """Tell whether two JSON values are equal as JSON: true is not 1, 1 is 1.0, key order is no matter."""
    kind = type(left)
    if kind is not type(right):
        return {kind, type(right)} == {int, float} and Decimal(repr(left)) == Decimal(repr(right))
    if kind is dict:
        return left.keys() == right.keys() and all(
            same_json(value, right[key]) for key, value in left.items()
        )
    if kind is list:
        return len(left) == len(right) and all(map(same_json, left, right))
    return bool(left == right)


def number_key(number: Decimal | int | float) -> str:
    """Return text that sorts, by code point, as ``number`` does among numbers of any size."""
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    if not exact:
        return "1"
    digits = "".join(map(str, exact.as_tuple().digits)).lstrip("0").rstrip("0")
    exponent = f"{exact.adjusted() + _EXPONENT_OFFSET:07d}"
    if exact > 0:
        return f"2{exponent}{digits}"
    return f"0{exponent.translate(_COMPLEMENT)}{digits.translate(_COMPLEMENT)}~"


@functools.cache
def _fold_table() -> dict[int, int]:
    """Map each character to the one it folds to (Unicode simple case folding, 1:1 only)."""
    table = {}
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        for folded in (char.casefold(), char.lower()):
            if len(folded) == 1:
                if folded != char:
                    table[code] = ord(folded)
                break
    return table


def fold(text: str) -> str:
    """Return ``text`` with capitals and small letters made the same, one character to one."""
    return text.lower() if text.isascii() else text.translate(_fold_table())


@functools.cache
def fold_alphabets() -> tuple[str, str]:
    """Return the non-ASCII characters that fold, and what each folds to (for SQL's translate)."""
    pairs = [(chr(code), chr(folded)) for code, folded in _fold_table().items() if code > 127]
    return "".join(char for char, _ in pairs), "".join(folded for _, folded in pairs)
