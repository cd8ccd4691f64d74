"""The guards on JSON and text: what no database and no later reader should ever have to meet.

NUL, lone surrogates, NaN, Infinity, duplicate keys, numbers too long to print and deep nesting are
refused here, the same for PostgreSQL and SQLite, with the path of the offender. Pure Python.
"""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Callable, Mapping, Set
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, NoReturn
from uuid import UUID

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python
from pydantic_core import to_json as encode

from agentstore.core.errors import TooLarge, ValidationFailed
from agentstore.core.values import JSONObject, JSONValue

__all__ = ["MAX_DEPTH", "MAX_DIGITS", "check_size", "check_text", "dump_json", "encode_json", "harmless",
           "parse_json", "printable", "quick_json", "refuse", "to_json"]  # fmt: skip

#: How deep objects and arrays may nest, the outermost counted as 1.
MAX_DEPTH = 64
#: CPython turns no integer of more than 4,300 digits into text or back (CVE-2020-10735).
MAX_DIGITS = 4300
_BOUND = 10**MAX_DIGITS
_LONG = 2**63
_NUL = "\\u0000"
#: Types that have one customary text, and so may be keys too.
_TEXTUAL = (date, time, timedelta, Decimal, UUID)
_HARMLESS = frozenset({str, bool, type(None)})


def refuse(path: str, problem: str, hint: str = "") -> NoReturn:
    """Raise ``ValidationFailed`` for the value at ``path`` (dotted; empty for the whole value)."""
    where = f"{path}: " if path else ""
    raise ValidationFailed(f"{where}{problem}", hint=hint, errors={path: [problem]})


def check_text(value: object, path: str) -> str:
    """Return ``value`` if it is text that every database can hold; a subclass becomes its plain text.

    Raises:
        ValidationFailed: it is no ``str``, or holds a NUL or a lone surrogate.
    """
    if not isinstance(value, str):
        refuse(path, f"Expected text, found {type(value).__name__}.")
    if "\0" in value:
        refuse(path, f"The text holds a NUL character at position {value.index(chr(0))}.")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            refuse(path, f"The text holds a lone surrogate at position {error.start}.")
    return str.__str__(value)  # ``str()`` of a text that is an Enum is its name, not its text


def printable(text: str) -> str:
    """Return ``text`` as a page can carry it: no NUL, no lone surrogate, which only spoiled rows have."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


def to_json(value: object, *, path: str = "", max_depth: int = MAX_DEPTH) -> JSONValue:
    """Return ``value`` as JSON made of plain dict, list, str, int, float, bool and None.

    Python values that have one customary JSON form (datetime, date, UUID, Decimal, Enum, tuple,
    set, pydantic model) are turned into it.

    Raises:
        ValidationFailed: something in it has no JSON form, with the path of the offender.
    """
    if value is None or value is True or value is False:
        return value
    if isinstance(value, enum.Enum):
        return to_json(value.value, path=path, max_depth=max_depth)
    if isinstance(value, str):
        return check_text(value, path)
    if isinstance(value, int):
        return _integer(value, path)
    if isinstance(value, float):
        return _float(value, path)
    if isinstance(value, BaseModel):
        value = _dumped(value, path)
    if isinstance(value, Mapping | list | tuple | Set):
        if max_depth < 1:
            refuse(path, "The value is nested too deeply.", f"At most {MAX_DEPTH} levels are kept.")
        return _container(value, path, max_depth - 1)
    return _leaf(value, path, max_depth)


def _dumped(model: BaseModel, path: str) -> JSONValue:
    """Return a model as its own serializers write it: dates as keys, say, are text then."""
    try:
        inner = model.model_dump(mode="python", by_alias=True, round_trip=True, warnings=False)
        _check_finite(inner, path)  # a NaN in free JSON would be null below
    except (ValueError, RecursionError):  # it holds itself, or is nested beyond what pydantic follows
        refuse(path, f"The {type(model).__name__} holds itself, or is nested too deeply.")
    try:
        return model.model_dump(mode="json", by_alias=True, round_trip=True, warnings=False)
    except ValueError:
        return inner  # of which the guards name the part that has no JSON form


def _check_finite(value: object, path: str) -> None:
    prefix = f"{path}." if path else ""
    if isinstance(value, float):
        _float(value, path)
    elif isinstance(value, BaseModel):  # in free JSON: not dumped with the rest
        _check_finite(dict(value), path)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _check_finite(item, f"{prefix}{key}")
    elif isinstance(value, list | tuple | Set):
        for number, item in enumerate(value):
            _check_finite(item, f"{prefix}{number}")


def _integer(value: int, path: str) -> int:
    if not -_BOUND < value < _BOUND:
        refuse(path, f"The number has more than {MAX_DIGITS:,} digits.")
    return int(value)


def _float(value: float, path: str) -> float:
    if not math.isfinite(value):
        refuse(path, f"{value} is not a JSON number.", "Send null or a finite number.")
    return float(value) + 0.0  # -0.0 is 0.0 to jsonb


def _container(value: object, path: str, left: int) -> JSONValue:
    prefix = f"{path}." if path else ""
    if isinstance(value, Mapping):
        found = {
            _key(key, path): to_json(item, path=f"{prefix}{key}", max_depth=left)
            for key, item in value.items()
        }
        if len(found) < len(value):
            refuse(path, "Two keys have the same text.")
        return found
    items = value if isinstance(value, list | tuple) else _sorted(value)
    return [to_json(item, path=f"{prefix}{number}", max_depth=left) for number, item in enumerate(items)]


def _sorted(items: Any) -> list[Any]:
    """Return a set's items in an order that no hash seed changes."""
    try:
        return sorted(items, key=repr)
    except ValueError:  # an integer too long to print, which is refused next
        return list(items)


def _key(key: object, path: str) -> str:
    if isinstance(key, enum.Enum):
        key = key.value
    if isinstance(key, _TEXTUAL):
        key = to_jsonable_python(key)
    if not isinstance(key, str):
        shown = repr(key) if _is_plain(key, 0) else f"of type {type(key).__name__}"  # a repr may be anything
        refuse(path, f"The key {shown} is not text: JSON objects have text keys.")
    return check_text(key, path)


def _leaf(value: object, path: str, left: int) -> JSONValue:
    try:
        plain = to_jsonable_python(value)
    except (PydanticSerializationError, ValueError):
        refuse(path, f"A {type(value).__name__} has no JSON form.")
    return to_json(plain, path=path, max_depth=left)


_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"))


def dump_json(value: JSONValue) -> str:
    """Return guarded JSON as compact text, non-ASCII characters as they are."""
    return _ENCODER.encode(value)


def quick_json(value: JSONValue) -> str:
    """Return guarded or stored JSON as text that means the same as that of ``dump_json``, sooner.

    Only the writing of floats differs (1e16, 1e+16).
    """
    try:
        return encode(value).decode()
    except ValueError:  # a lone surrogate, which only a row spoiled by hand can hold
        return dump_json(value)


def encode_json(value: object, *, max_depth: int = MAX_DEPTH) -> tuple[JSONValue, str]:
    """Return ``to_json(value)`` and its text; the very same object where it is plain JSON already.

    Raises:
        ValidationFailed: as ``to_json`` does.
    """
    text = _plain_text(value, max_depth)
    if text is not None:
        return value, text
    plain = to_json(value, max_depth=max_depth)
    return plain, dump_json(plain)


def _plain_text(value: object, max_depth: int) -> str | None:
    """Return the text of harmless plain JSON; None where ``to_json`` has to look at every part.

    The compiled encoder meets every character anyway: an escaped NUL and a failed encoding tell
    that there is an offender, ``to_json`` then tells where.
    """
    if not _is_plain(value, max_depth):
        return None
    try:
        text = encode(value).decode()
    except ValueError:  # a lone surrogate
        return None
    return None if _NUL in text else text


def harmless(value: JSONValue, text: str, *, max_depth: int = MAX_DEPTH) -> bool:
    """Tell whether JSON parsed from an encoder's ``text`` is surely within the guards."""
    flat = text.count("{") + text.count("[") <= max_depth
    return _NUL not in text and (flat or _is_plain(value, max_depth))


def _is_plain(value: Any, left: int) -> bool:
    """Tell whether ``value`` is made of JSON's exact Python types, within the depth."""
    kind = type(value)
    if kind is int or kind is float:
        return bool(-_LONG < value < _LONG) and (value != 0 or str(value)[0] != "-")
    if kind is not dict and kind is not list:
        return kind in _HARMLESS
    if left < 1 or (kind is dict and not {*map(type, value)} <= {str}):
        return False
    # A plain loop: this runs over every document, and a generator costs more than its work.
    for item in value.values() if kind is dict else value:
        if type(item) not in _HARMLESS and not _is_plain(item, left - 1):
            return False
    return True


def check_size(text: str, *, limit: int, what: str) -> None:
    """Raise ``TooLarge`` when ``text`` has more than ``limit`` bytes of UTF-8."""
    size = len(text) if text.isascii() else len(text.encode())
    if size > limit:
        raise TooLarge(
            f"{what} has {size:,} bytes; the limit is {limit:,}.",
            hint="Shorten it, or keep large content elsewhere and store a reference.",
        )


def parse_json(raw: bytes | str, *, parse_float: Callable[[str], float] | None = None) -> JSONValue:
    """Parse one JSON text strictly (RFC 8259, unique keys).

    Raises:
        ValidationFailed: invalid UTF-8 or JSON, a duplicate key, NaN or Infinity, a number too
            long, nesting too deep for the parser. The caller guards the result with ``to_json``.
    """
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
    except UnicodeDecodeError as error:
        refuse("", f"The text is not valid UTF-8: byte {error.start} can't be decoded.")
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_constant, parse_float=parse_float)
    except json.JSONDecodeError as error:
        refuse("", f"The text is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.")
    except RecursionError:
        refuse("", "The value is nested too deeply.", f"At most {MAX_DEPTH} levels are kept.")
    except ValueError:  # CPython's own limit on the digits of an integer
        refuse("", f"A number has more than {MAX_DIGITS:,} digits.")


def _unique(pairs: list[tuple[str, JSONValue]]) -> JSONObject:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                refuse("", f"The key {key[:100]!r} occurs twice in one object.")
            seen.add(key)
    return result


def _constant(name: str) -> NoReturn:
    refuse("", f"{name} is not a JSON number.", "Send null or a finite number.")
