"""What an audited change did, field by field: old and new. Pure: no Django, no words, no HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentstore.core.values import HistoryEntry, JSONObject, JSONValue
from agentstore.entities.codec import same_json

__all__ = [
    "ABSENT",
    "Change",
    "FieldChange",
    "RowsChange",
    "Swap",
    "apply_patch",
    "clip",
    "compare_rows",
    "describe",
    "name_of",
]

#: The row had, or has, no value there.
ABSENT: Any = object()


@dataclass(frozen=True, kw_only=True)
class Swap:
    """One value before and after."""

    key: str
    old: JSONValue
    new: JSONValue


@dataclass(frozen=True, kw_only=True)
class RowsChange:
    """What became of a list of objects: names of rows added and removed, and swaps inside rows."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[tuple[str, tuple[Swap, ...]], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True, kw_only=True)
class FieldChange:
    """One changed field. ``inner`` says it key by key for an object, ``rows`` for a list of objects.

    ``reset`` is True where the change put the field back to its default; ``known`` is False where
    the value before is no longer known.
    """

    key: str
    old: JSONValue
    new: JSONValue
    reset: bool = False
    known: bool = True
    inner: tuple[Swap, ...] = ()
    rows: RowsChange | None = None


@dataclass(frozen=True, kw_only=True)
class Change:
    """One entry of the audit with the row after it; ``row`` is None where it can't be known."""

    entry: HistoryEntry
    fields: tuple[FieldChange, ...] = ()
    row: JSONObject | None = None


def apply_patch(row: JSONObject, patch: JSONObject) -> JSONObject:
    """Return ``row`` after an audited update: unset first, then set."""
    unset, values = patch.get("unset") or (), patch.get("set") or {}
    return {**{key: value for key, value in row.items() if key not in unset}, **values}


def describe(
    entries: Sequence[HistoryEntry], before: JSONObject | None, order: Iterable[str]
) -> list[Change]:
    """Describe a page of history, newest first as it came; ``before`` is the row before its oldest entry.

    ``order`` is the order of the schema's fields, which stored keys need not have.
    """
    places = {key: place for place, key in enumerate(order)}
    found: list[Change] = []
    row = before
    for entry in reversed(entries):
        change = _describe(entry, row, places)
        row = change.row
        found.append(change)
    return found[::-1]


def _describe(entry: HistoryEntry, row: JSONObject | None, places: Mapping[str, int]) -> Change:
    if entry.op == "create":
        return Change(entry=entry, row=entry.patch)
    if entry.op != "update" or entry.patch is None:
        return Change(entry=entry, row=row)
    after = None if row is None else apply_patch(row, entry.patch)
    values, unset = entry.patch.get("set") or {}, entry.patch.get("unset") or []
    keys = sorted({*values, *unset}, key=lambda key: (places.get(key, len(places)), key))
    fields = (_field(key, row, values.get(key, ABSENT), reset=key in unset) for key in keys)
    return Change(entry=entry, row=after, fields=tuple(fields))


def _field(key: str, row: JSONObject | None, new: JSONValue, *, reset: bool) -> FieldChange:
    old = ABSENT if row is None else row.get(key, ABSENT)
    inner: tuple[Swap, ...] = ()
    rows = None
    if isinstance(old, dict) and isinstance(new, dict):
        inner = tuple(swaps(old, new))
    if _are_objects(old) and _are_objects(new):
        rows = compare_rows(old, new)
    reset = reset and new is not ABSENT
    return FieldChange(key=key, old=old, new=new, reset=reset, known=row is not None, inner=inner, rows=rows)


def _are_objects(value: JSONValue) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def swaps(old: JSONObject, new: JSONObject) -> Iterator[Swap]:
    """Yield the keys whose values differ, in the order of the new object."""
    for key in dict.fromkeys((*new, *old)):
        before, after = old.get(key, ABSENT), new.get(key, ABSENT)
        if before is ABSENT or after is ABSENT or not same_json(before, after):
            yield Swap(key=key, old=before, new=after)


def name_of(item: JSONObject, number: int, first: str = "") -> str:
    """Return what names an object of a list: the value of ``first``, else its first text, else its place."""
    texts = (value for value in (item.get(first), *item.values()) if isinstance(value, str) and value)
    return next(texts, f"#{number + 1}")[:60]


def compare_rows(old: list[JSONObject], new: list[JSONObject], *, first: str = "") -> RowsChange:
    """Compare two lists of objects; rows belong together by name where names are unique, else by place."""
    named = all(len(_names(items, first)) == len(items) for items in (old, new))
    before, after = (dict(zip(_names(items, first, named=named), items, strict=True)) for items in (old, new))
    changed = [(name, tuple(swaps(before[name], item))) for name, item in after.items() if name in before]
    return RowsChange(
        added=tuple(name for name in after if name not in before),
        removed=tuple(name for name in before if name not in after),
        changed=tuple((name, found) for name, found in changed if found),
    )


def _names(items: list[JSONObject], first: str, *, named: bool = True) -> dict[str, None]:
    """Return the names of rows in order, each once; ``named=False`` gives their places instead."""
    return dict.fromkeys(name_of(item, n, first) if named else f"#{n + 1}" for n, item in enumerate(items))


def clip(old: str, new: str, *, longest: int = 160, around: int = 30) -> tuple[str, str]:
    """Return two texts cut to the part that differs, with a few words around it."""
    if max(len(old), len(new)) <= longest:
        return old, new
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    begin = old.rfind(" ", 0, max(0, start - around)) + 1
    return _cut(old, begin, end, longest, around), _cut(new, begin, end, longest, around)


def _common(left: str, right: str) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(left), len(right)))


def _cut(text: str, begin: int, end: int, longest: int, around: int) -> str:
    stop = min(len(text) - max(0, end - around), begin + longest)
    return f"{'… ' if begin else ''}{text[begin:stop]}{' …' if stop < len(text) else ''}"
