"""How numbers are written so that PostgreSQL's jsonb gives them back as what they were. Pure Python.

jsonb keeps a number's value and how many decimals it was written with, but no exponent: ``1e+23``
comes back as an integer of 24 digits, which is not the float that was meant.
"""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ["keep_floats"]

_EXPONENT = re.compile(r"\d[eE][+-]?\d")
#: A text, which is passed over, or a number with an exponent.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?[eE][+-]?\d+')


def keep_floats(text: str) -> str:
    """Return JSON without exponents, as jsonb keeps it, each float with a decimal; else the same text."""
    return _TOKEN.sub(_write_out, text) if _EXPONENT.search(text) else text


def _write_out(token: re.Match[str]) -> str:
    if token[0].startswith('"'):
        return token[0]
    digits = f"{Decimal(token[0]):f}"
    return digits if "." in digits else f"{digits}.0"
