"""Differences: what they show, that they are true, and that no text makes them slow."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentstore.files import diff as module
from agentstore.files.diff import MAX_DIFF_LINES, compare, count_lines, split_lines
from agentstore.files.matching import Budget

#: Texts made of few lines and ends, so that much is equal and ends differ.
TEXTS = st.lists(
    st.sampled_from(["a", "b", "c d", "", " ", "x\ry", "p\u2028q", "\x0c", "e\x85f"]).flatmap(
        lambda line: st.sampled_from([line + "\n", line + "\r\n", line])
    ),
    max_size=30,
).map("".join)


def patched(old, patch):
    """Apply a unified diff, as ``patch`` would; only ``\\n`` ends a line."""
    source, out, position = split_lines(old), [], 0
    lines = patch.split("\n")[2:-1]
    for number, line in enumerate(lines):
        if header := re.fullmatch(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", line):
            start, count, new_start, new_count = map(int, header.groups())
            until = start - 1 if count else start
            out += source[position:until]
            position = until
            assert len(out) == (new_start - 1 if new_count else new_start)
        elif line.startswith("\\"):
            continue
        else:
            sign, text = line[0], line[1:]
            ends = number + 1 < len(lines) and lines[number + 1].startswith("\\")
            whole = text if ends else text + "\n"
            if sign in " -":
                assert source[position] == whole
                position += 1
            if sign in " +":
                out.append(whole)
    return "".join(out + source[position:])


@given(TEXTS, TEXTS, st.integers(0, 4))
def test_applying_a_diff_gives_the_new_text(old, new, context):
    found = compare(old, new, context=context)

    assert found.equal == (old == new)
    if old != new:
        assert patched(old, str(found)) == new
    else:
        assert str(found) == ""


@given(TEXTS, TEXTS, st.integers(0, 4))
def test_the_lines_of_a_diff_are_those_of_the_texts(old, new, context):
    before, after = split_lines(old), split_lines(new)
    found = compare(old, new, context=context)

    hidden = sum(hunk.skipped for hunk in found.hunks) + found.hidden_after
    lines = [line for hunk in found.hunks for line in hunk.lines]
    for line in lines:
        whole = line.text + line.ending
        assert line.old is None or before[line.old - 1] == whole
        assert line.new is None or after[line.new - 1] == whole
        assert (line.sign == "+") == (line.old is None)
        assert (line.sign == "-") == (line.new is None)
    assert sum(line.sign == "+" for line in lines) == found.added
    assert sum(line.sign == "-" for line in lines) == found.removed
    if old != new:
        assert sum(line.sign == " " for line in lines) + hidden == len(before) - found.removed
        assert all(any(line.sign != " " for line in hunk.lines) for hunk in found.hunks)


@given(st.text(alphabet="a\n\r\u2028\x0b\x85", max_size=30))
def test_only_a_newline_ends_a_line(text):
    lines = split_lines(text)

    assert "".join(lines) == text
    assert len(lines) == text.count("\n") + (text != "" and not text.endswith("\n"))
    assert all("\n" not in line[:-1] for line in lines)


def test_a_change_is_shown_with_three_lines_around_it():
    old = "".join(f"line {number}\n" for number in range(1, 21))

    found = compare(old, old.replace("line 10\n", "line ten\n"), old_label="a", new_label="b")

    assert str(found) == (
        "--- a\n+++ b\n@@ -7,7 +7,7 @@\n line 7\n line 8\n line 9\n-line 10\n+line ten\n"
        " line 11\n line 12\n line 13\n"
    )
    assert (found.hunks[0].skipped, found.hidden_after) == (6, 7)
    assert (found.added, found.removed) == (1, 1)


def test_a_gap_of_one_line_is_shown_and_one_of_two_is_not():
    def edited(distance):
        lines = [f"{number}\n" for number in range(20)]
        new = [*lines]
        new[5] = new[5 + distance] = "x\n"
        return compare("".join(lines), "".join(new))

    assert len(edited(8).hunks) == 1
    assert len(edited(9).hunks) == 2
    assert edited(9).hunks[1].skipped == 2


def test_the_changed_words_are_marked():
    found = compare("Call me on Monday, please.\n", "Call me on Friday, please.\n")

    assert [line.spans for line in found.hunks[0].lines] == [
        [("Call me on ", False), ("Monday", True), (", please.", False)],
        [("Call me on ", False), ("Friday", True), (", please.", False)],
    ]


@given(st.text(alphabet="ab c,", max_size=30), st.text(alphabet="ab c,", max_size=30))
def test_marks_cover_the_line_and_equal_parts_are_equal(old, new):
    found = compare(old, new)

    for hunk in found.hunks:
        texts = {line.sign: line for line in hunk.lines}
        if set(texts) == {"+", "-"}:
            assert (texts["-"].text, texts["+"].text) == (old, new)
            kept = ["".join(text for text, changed in texts[sign].spans if not changed) for sign in "-+"]
            if any(changed for line in texts.values() for _, changed in line.spans):
                assert kept[0] == kept[1]


def test_lines_with_little_in_common_have_no_marks():
    found = compare("one two three four\n", "alpha beta gamma delta\n")

    assert [line.spans for line in found.hunks[0].lines] == [
        [("one two three four", False)],
        [("alpha beta gamma delta", False)],
    ]


def test_ends_of_lines_are_told():
    found = compare("a\r\nb\nc", "a\nb\r\nc\n")

    assert found.only_line_ends
    assert [(line.sign, line.text, line.ending) for line in found.hunks[0].lines] == [
        ("-", "a", "\r\n"), ("-", "b", "\n"), ("-", "c", ""),
        ("+", "a", "\n"), ("+", "b", "\r\n"), ("+", "c", "\n"),
    ]  # fmt: skip


def test_a_missing_newline_at_the_end_is_told():
    found = compare("a\nb", "a\nb\n")

    assert found.only_line_ends
    assert str(found) == ("--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n")


@pytest.mark.parametrize(
    ("old", "new", "only_ends"),
    [("a\n", "a\r\n", True), ("a\n", "b\n", False), ("a\n", "a \n", False), ("a\n", "a\n\n", False),
     ("a", "a", False), ("", "\n", False), ("a\r", "a", False)],
    ids=repr,
)  # fmt: skip
def test_only_line_ends_means_nothing_else(old, new, only_ends):
    assert compare(old, new).only_line_ends == only_ends


def test_equal_texts_have_no_hunks():
    found = compare("a\nb\n", "a\nb\n")

    assert (found.equal, found.hunks, found.added, found.removed, found.hidden_after) == (True, [], 0, 0, 0)


def test_from_nothing_and_to_nothing():
    assert str(compare("", "a\nb\n")).splitlines()[2] == "@@ -0,0 +1,2 @@"
    assert str(compare("a\nb\n", "")).splitlines()[2] == "@@ -1,2 +0,0 @@"


def test_too_many_changed_lines_are_counted_and_not_shown():
    old = "a\n" * (MAX_DIFF_LINES // 2 + 1)
    new = "b\n" * (MAX_DIFF_LINES // 2 + 1)

    found = compare(old, new)

    assert (found.too_large, found.equal, found.hunks) == (True, False, [])
    assert found.added == found.removed == MAX_DIFF_LINES // 2 + 1
    assert not compare(old[2:], new[2:]).too_large


def test_one_change_in_a_text_of_very_many_lines_is_shown():
    old = "\n" * 50_000

    found = compare(old, old[:25_000] + "x" + old[25_000:])

    assert (found.too_large, found.added, found.removed) == (False, 1, 1)


def test_every_other_line_of_a_long_text_is_told_exactly():
    old = "".join(f"{number:05}\n" for number in range(17_000))
    new = "".join(f"{number:05}\n" if number % 2 else f"x{number:04}\n" for number in range(17_000))

    assert count_lines(old, new) == (8500, 8500)


#: 100 KiB each, made to be as slow as can be to compare.
def _hostile():
    rng = random.Random(5)

    def lines(count, alphabet, length):
        return "\n".join("".join(rng.choice(alphabet) for _ in range(length)) for _ in range(count))

    names = [f"{number:03}" for number in range(300)]
    return {
        "two words": ("\n".join(["a b " * 240] * 105), "\n".join(["b a " * 240] * 105)),
        "four signs": (lines(104, "ab,.", 980), lines(104, "ab,.", 980)),
        "many signs": (
            lines(300, "abcdefgh,.:;-_!?#+*/(){}[]", 340),
            lines(300, "abcdefgh,.:;-_!?#+*/(){}[]", 340),
        ),
        "300 lines mixed": ("\n".join(rng.choices(names, k=25_000)), "\n".join(rng.choices(names, k=25_000))),
        "300 lines mixed, few": (
            "\n".join(rng.choices(names, k=1990)),
            "\n".join(rng.choices(names, k=1990)),
        ),
        "every other line": (
            "".join(f"{n:05}\n" for n in range(17_000)),
            "".join(f"{n:05}\n" if n % 2 else f"x{n:04}\n" for n in range(17_000)),
        ),
        "every third line gone": (
            "".join(f"{n:05}\n" for n in range(17_000)),
            "".join(f"{n:05}\n" for n in range(17_000) if n % 3),
        ),
        "one line": ("x" * 102_400, "y" * 102_400),
        "one line of words": ("ab " * 34_133, "ba " * 34_133),
    }


@pytest.mark.parametrize("what", _hostile())
def test_no_text_of_100_kib_takes_long(what, monkeypatch):
    """The steps of all matching, of lines and of words, are within what the module allows."""
    taken = []
    spend = Budget.spend

    def counted(self, steps):
        enough = spend(self, steps)
        taken.append(steps if enough else 0)
        return enough

    monkeypatch.setattr(Budget, "spend", counted)
    old, new = _hostile()[what]

    compare(old, new)

    assert taken
    assert sum(taken) <= module.MAX_WORK + module.MAX_MARKING


def test_marking_words_stops_when_its_work_is_spent(monkeypatch):
    monkeypatch.setattr(module, "MAX_MARKING", 60)
    old = "".join(f"the word {number} here\n" for number in range(20))

    found = compare(old, old.replace("word", "term"))

    marked = [line for line in found.hunks[0].lines if any(changed for _, changed in line.spans)]
    assert 0 < len(marked) < 40
    assert patched(old, str(found)) == old.replace("word", "term")
