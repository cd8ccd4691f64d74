"""The code blocks of the README, for the tests that run them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["README", "Block", "blocks"]

README = Path(__file__).resolve().parents[1] / "README.md"
_BLOCK = re.compile(r"(<!-- not run[^>]*-->\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Block:
    """One fenced block: its language, its text, the section it stands in."""

    language: str
    text: str
    section: str
    run: bool

    @property
    def file(self) -> str:
        """The file that a Python block says it belongs to, in its first line."""
        return self.text.partition("\n")[0].removeprefix("# ") if self.text.startswith("# ") else ""


def blocks(language: str | None = None, *, section: str | None = None) -> list[Block]:
    """Return the blocks in the order of the page."""
    text = README.read_text(encoding="utf-8")
    found = [
        Block(
            language=match[2],
            text=match[3],
            section=re.findall(r"^## (.+)$", text[: match.start()], re.MULTILINE)[-1],
            run=match[1] is None,
        )
        for match in _BLOCK.finditer(text)
    ]
    return [b for b in found if language in (None, b.language) and section in (None, b.section)]
