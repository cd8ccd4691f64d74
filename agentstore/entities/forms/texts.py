"""Between a JSON value and the text of one widget. Text is compared with text, so an untouched
widget never changes its value; only text that somebody changed is read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from django.utils.translation import gettext as _

from agentstore.core import guards
from agentstore.core.errors import ValidationFailed
from agentstore.core.values import JSONValue
from agentstore.entities.forms.moments import Unreadable, moment_text, read_day, read_moment
from agentstore.entities.forms.shape import MISSING, Shape, has_default_text

__all__ = ["UNSET", "is_shown", "plain_lines", "read", "write"]

#: The text asks for the schema's default.
UNSET = object()

_INTEGER = re.compile(r"[+-]?\d{1,4300}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def plain_lines(text: str) -> str:
    """Return ``text`` with every line end as a browser's textarea shows it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


# --- value to text ------------------------------------------------------------------------------


def is_shown(shape: Shape, value: JSONValue) -> bool:
    """Tell whether the widget can show ``value`` without losing anything of it."""
    if shape.kind == "lines" and value is not MISSING and value is not None:
        return isinstance(value, list) and all(_is_line(shape, item) for item in value)
    return True


def _is_line(shape: Shape, item: JSONValue) -> bool:
    if shape.item is not None and shape.item.kind == "number":
        return isinstance(item, int | float) and not isinstance(item, bool)
    return isinstance(item, str) and bool(item) and item == item.strip() and not re.search(r"[\r\n]", item)


def write(shape: Shape, value: JSONValue) -> str:
    """Return the text that stands for ``value``; a value of the wrong kind is shown as JSON."""
    if value is MISSING or value is None:
        return ""
    text = _writers.get(shape.kind, _write_json)(shape, value)
    return guards.printable(_write_json(shape, value) if text is None else text)


def _write_json(shape: Shape, value: JSONValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2 if shape.kind == "json" else None)


def _write_text(shape: Shape, value: JSONValue) -> str | None:
    return value if isinstance(value, str) else None


def _write_number(shape: Shape, value: JSONValue) -> str | None:
    return json.dumps(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _write_choice(shape: Shape, value: JSONValue) -> str | None:
    found = (c.text for c in shape.choices if c.value == value and type(c.value) is type(value))
    return next(found, None)


def _write_lines(shape: Shape, value: JSONValue) -> str | None:
    if shape.item is None or not is_shown(shape, value):
        return None
    return "\n".join(write(shape.item, item) for item in value)


_writers: dict[str, Callable[[Shape, JSONValue], str | None]] = {
    "text": _write_text,
    "day": _write_text,
    "number": _write_number,
    "choice": _write_choice,
    "lines": _write_lines,
    "moment": lambda shape, value: moment_text(value),
}


# --- text to value ------------------------------------------------------------------------------


def read(shape: Shape, text: str) -> JSONValue:
    """Return the JSON value that a changed text means, or ``UNSET`` for the schema's default.

    What is no value of the shape's kind is handed on as text, so that the schema refuses it in its
    own words.

    Raises:
        Unreadable: the text can't be turned into any value.
    """
    text = plain_lines(text)
    if not (text if shape.plain else text.strip()):
        return _read_nothing(shape)
    return _readers[shape.kind](shape, text)


def _read_nothing(shape: Shape) -> JSONValue:
    if shape.nullable:
        return None
    if shape.kind == "lines":
        return []
    if shape.plain:
        return ""
    if has_default_text(shape):
        return UNSET
    raise Unreadable(_("This field is required."))


def _read_text(shape: Shape, text: str) -> JSONValue:
    return text if shape.plain else text.strip()


def _read_number(shape: Shape, text: str) -> JSONValue:
    text = text.strip()
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        number = float(text)
        return text if number in (float("inf"), float("-inf")) else number
    return text


def _read_boolean(shape: Shape, text: str) -> JSONValue:
    return {"true": True, "false": False}.get(text, text)


def _read_choice(shape: Shape, text: str) -> JSONValue:
    return next((choice.value for choice in shape.choices if choice.text == text), text)


def _read_lines(shape: Shape, text: str) -> JSONValue:
    assert shape.item is not None  # noqa: S101 - a shape of lines has one
    return [read(shape.item, line.strip()) for line in text.split("\n") if line.strip()]


def _read_json(shape: Shape, text: str) -> JSONValue:
    try:
        return guards.parse_json(text)
    except ValidationFailed as error:
        raise Unreadable(error.message) from None


_readers: dict[str, Callable[[Shape, str], JSONValue]] = {
    "text": _read_text,
    "number": _read_number,
    "boolean": _read_boolean,
    "choice": _read_choice,
    "lines": _read_lines,
    "json": _read_json,
    "day": lambda shape, text: read_day(text),
    "moment": lambda shape, text: read_moment(text),
}
