"""What the commands show on a terminal: text on one line, and a bar while a long file is read or written."""

from __future__ import annotations

import time
from types import TracebackType
from typing import BinaryIO

from django.core.management.base import OutputWrapper

__all__ = ["Progress", "one_line"]

#: The most that is shown of one text.
LONGEST = 500

WIDTH = 24
#: Seconds between two drawings.
PAUSE = 0.1


def one_line(text: str) -> str:
    """Return ``text`` as a terminal can show it: one line, not too long, nothing that moves the cursor."""
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:LONGEST])
    return f"{shown} …" if len(text) > LONGEST else shown


class Progress:
    """Shows how far a file has been read, or only counts where there is none; on a terminal only."""

    def __init__(self, out: OutputWrapper, file: BinaryIO | None = None, *, quiet: bool = False) -> None:
        self.out, self.file, self.title = out, file, ""
        self.shown = not quiet and out.isatty()
        self._size = self._length = 0
        self._next = 0.0

    def __enter__(self) -> Progress:
        if self.shown and self.file is not None:
            self._size = self.file.seek(0, 2)
            self.file.seek(0)
        self.step(0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, *error: BaseException | TracebackType | None
    ) -> None:
        self.clear()

    def step(self, count: int) -> None:
        """Draw the bar with so many records done, unless it was drawn just now."""
        if self.shown and (count == 0 or time.monotonic() >= self._next):
            self._next = time.monotonic() + PAUSE
            self._draw(f"{self.title}{self._bar()} {count:,} records")

    def _bar(self) -> str:
        if self.file is None or not self._size:
            return ""
        done = min(self.file.tell() / self._size, 1)
        return f" [{'#' * int(done * WIDTH):<{WIDTH}}] {done:4.0%}"

    def _draw(self, text: str) -> None:
        padding = " " * max(self._length - len(text), 0)
        self.out.write(f"\r{text}{padding}", style_func=str, ending="")
        self.out.flush()
        self._length = len(text)

    def clear(self) -> None:
        """Take the bar off the line, so that something else can be printed."""
        if self._length:
            self._draw("")
            self.out.write("\r", style_func=str, ending="")
