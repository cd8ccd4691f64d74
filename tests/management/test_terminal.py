"""What the commands show on a terminal."""

from __future__ import annotations

import io

import pytest
from django.core.management.base import OutputWrapper

from agentstore.management import terminal
from agentstore.management.terminal import Progress, one_line


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """The seconds that have passed, set by the test."""
    times = {"now": 0.0}
    monkeypatch.setattr(terminal.time, "monotonic", lambda: times["now"])
    return times


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 日本", "plain é 日本"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[31m", r"\x1b[31m"),
        ("\0 \ud800 \u202e", r"\x00 \ud800 \u202e"),
        ("x" * 600, "x" * 500 + " …"),
    ],
)
def test_text_is_shown_on_one_line_and_moves_no_cursor(text, shown):
    assert one_line(text) == shown


def test_the_bar_shows_how_far_the_file_is_read(clock):
    out, file = Terminal(), io.BytesIO(b"x" * 200)
    bar = Progress(OutputWrapper(out), file)
    bar.title = "checking"

    with bar:
        file.read(100)
        clock["now"] = 1
        bar.step(1500)

    drawn = out.getvalue().split("\r")
    assert f"checking [{' ' * 24}]   0% 0 records" in drawn
    assert any(line.startswith(f"checking [{'#' * 12}{' ' * 12}]  50% 1,500 records") for line in drawn)
    assert drawn[-2].strip() == drawn[-1] == ""


def test_the_bar_is_not_drawn_more_often_than_anybody_sees(clock):
    out = Terminal()

    with Progress(OutputWrapper(out), io.BytesIO(b"x")) as bar:
        for count in range(1, 1000):
            bar.step(count)

    assert out.getvalue().count("records") == 1


def test_without_a_file_or_with_an_empty_one_the_bar_only_counts(clock):
    for file in (None, io.BytesIO()):
        out = Terminal()
        bar = Progress(OutputWrapper(out), file)
        bar.title = "exporting"

        with bar:
            clock["now"] += 1
            bar.step(7)

        assert "\rexporting 7 records" in out.getvalue()
        assert "%" not in out.getvalue()


def test_what_is_printed_in_between_stands_on_a_line_of_its_own(clock):
    out = Terminal()
    with Progress(OutputWrapper(out)) as bar:
        bar.clear()
        out.write("told\n")

    screen = [line.split("\r")[-1] for line in out.getvalue().split("\n")]
    assert screen[0] == "told"


@pytest.mark.parametrize(("out", "quiet"), [(io.StringIO(), False), (Terminal(), True)])
def test_the_bar_is_silent_where_nobody_watches(out, quiet):
    with Progress(OutputWrapper(out), io.BytesIO(b"x"), quiet=quiet) as bar:
        bar.step(1)

    assert out.getvalue() == ""
