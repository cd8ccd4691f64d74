"""How numbers are written so that PostgreSQL's jsonb gives them back as what they were. Pure Python.

jsonb keeps a number's value and how many decimals it was written with, but no exponent: ``1e+23``
comes back as an integer of 24 digits, which is not the float that was meant. Nor does it keep the
sign of ``-0.0``, so that SQLite is not given one either.
"""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ["keep_floats"]

_MINUS_ZERO = r"-0(?:\.0+)?(?=[\s,\]}]|$)"
_SUSPECT = re.compile(rf"\d[eE][+-]?\d|{_MINUS_ZERO}")
#: A text, which is passed over, a number with an exponent, or a zero with a sign.
_TOKEN = re.compile(rf'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?[eE][+-]?\d+|(?P<zero>{_MINUS_ZERO})')


def keep_floats(text: str) -> str:
    """Return JSON as jsonb keeps it, floats with a decimal: no exponents, no -0.0; else the same text."""
    return _TOKEN.sub(_write_out, text) if _SUSPECT.search(text) else text


def _write_out(token: re.Match[str]) -> str:
    if token[0].startswith('"'):
        return token[0]
    if token["zero"]:
        return token["zero"].removeprefix("-")
    digits = f"{Decimal(token[0]):f}"
    return digits if "." in digits else f"{digits}.0"
