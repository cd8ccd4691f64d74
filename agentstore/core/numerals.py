"""How numbers are written so that PostgreSQL's jsonb gives them back as what they were. Pure Python.

jsonb keeps a number's value and how many decimals it was written with, but no exponent: ``1e+23``
comes back as an integer of 24 digits, which is not the float that was meant.
"""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ["keep_floats"]

_EXPONENT = re.compile(r"\d[eE]\+?\d")
#: A text, which is passed over, or a number with an exponent that is not negative.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?[eE]\+?\d+')


def keep_floats(text: str) -> str:
    """Return JSON whose large floats are written out, with a decimal; the same text where there are none."""
    return _TOKEN.sub(_write_out, text) if _EXPONENT.search(text) else text


def _write_out(token: re.Match[str]) -> str:
    if token[0].startswith('"'):
        return token[0]
    digits = f"{Decimal(token[0]):f}"
    return digits if "." in digits else f"{digits}.0"
