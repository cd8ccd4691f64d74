"""Names for parametrised tests that are the same in every process, so that workers agree on them."""

import re

__all__ = ["stable"]


def stable(value: object) -> str:
    """Return the text of ``value`` without addresses."""
    return re.sub(r" at 0x\w+", "", str(value))
