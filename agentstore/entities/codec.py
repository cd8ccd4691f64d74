"""Between what callers hand over and what is stored: to JSON, strict validation, full dump, back.

Pure pydantic: no Django. Everything is stored, filtered and audited in its encoded (JSON) form.
"""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from agentstore.core import guards
from agentstore.core.errors import ValidationFailed
from agentstore.core.numerals import keep_floats
from agentstore.core.ordering import exact_json, same_json
from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.epochs import NO_TIME, epochs, may_hold_epochs
from agentstore.entities.fields import SchemaField, fields_of
from agentstore.entities.sets import has_sets, order_sets
from agentstore.entities.strictness import json_validator

__all__ = ["MAX_INDEXED_BYTES", "Codec", "Document", "exact_value", "flat_errors", "same_json", "suggest"]

S = TypeVar("S", bound=BaseModel)

#: The longest value of an indexed field, in bytes: PostgreSQL's b-tree holds about 2,700 a row.
MAX_INDEXED_BYTES = 1000
_SHORT = 10**300


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object and its text as a database keeps it: without exponents."""

    value: JSONObject
    text: str


class Codec(Generic[S]):
    """Encodes and decodes the rows of one schema. ``name`` is the entity's, for messages."""

    def __init__(self, schema: type[S], name: str, indexed: Iterable[str]) -> None:
        self.schema = schema
        self.name = name
        self.indexed = tuple(indexed)
        #: Validates stored and given JSON texts.
        self.validator = json_validator(schema)

    @functools.cached_property
    def fields(self) -> dict[str, SchemaField]:
        """The stored fields by key."""
        return fields_of(self.schema)

    def encode(self, data: object, *, max_bytes: int, max_depth: int) -> tuple[S, Document]:
        """Return the decoded instance and the full document to store.

        Raises:
            ValidationFailed: ``data`` does not fit the schema or the guards.
            TooLarge: the input or the document is over ``max_bytes``.
        """
        text = self.guard(data, max_bytes=max_bytes, max_depth=max_depth)
        return self.validate(text, max_bytes=max_bytes, max_depth=max_depth)

    def guard(self, data: object, *, max_bytes: int, max_depth: int) -> str:
        """Return ``data`` as JSON text: an object within the guards, not yet held against the schema.

        Raises:
            ValidationFailed: ``data`` is not an object, or something in it can't be stored.
            TooLarge: it is over ``max_bytes``.
        """
        if type(data) is not dict and not isinstance(data, Mapping | self.schema):
            found = type(data).__name__
            raise ValidationFailed(
                f"{self.name}: expected an object or a {self.schema.__name__}, found {found}.",
                errors={"": [f"Expected an object, found {found}."]},
            )
        _, text = guards.encode_json(data, max_depth=max_depth)
        guards.check_size(text, limit=max_bytes, what=f"The {self.name} row")
        return text

    def validate(self, text: str, *, max_bytes: int, max_depth: int) -> tuple[S, Document]:
        """Return the instance and the full document of a guarded text.

        Raises:
            ValidationFailed: it does not fit the schema.
            TooLarge: with its defaults it is over ``max_bytes``.
        """
        try:
            instance = self.validator.validate_json(text)
        except ValidationError as error:
            self._refuse(flat_errors(error))
        document = self.dump(instance, given=text, max_bytes=max_bytes, max_depth=max_depth)
        if document.text != text:
            self._refuse_epochs(text, document)
        return instance, document

    def _refuse_epochs(self, text: str, document: Document) -> None:
        """Refuse text of digits for a date or time: pydantic reads it as seconds since 1970."""
        if may_hold_epochs(text):
            errors = {path: [NO_TIME] for path in epochs(_parse(text), document.value, "")}
            if errors:
                self._refuse(errors)

    def dump(self, instance: S, *, max_bytes: int, max_depth: int, given: str = "") -> Document:
        """Return the full document of ``instance``, checked to decode to an equal instance.

        Where that is the very text which the instance was ``given`` as, it was decoded already.
        """
        document, text = self._document(instance, max_depth)
        text = keep_floats(text)  # 1e300 is five bytes here and 301 in the database
        guards.check_size(text, limit=max_bytes, what=f"The {self.name} row")
        self._check_indexed(document)
        if text != given:
            self._check_reading(text, instance)
        return Document(document, text)

    def _check_reading(self, text: str, instance: S) -> None:
        try:
            again: S | None = self.validator.validate_json(text)
        except ValidationError:
            again = None
        if again != instance:
            raise ValidationFailed(
                f"{self.name}: the schema {self.schema.__name__} does not read back what it writes.",
                hint="Each field must decode from its own JSON form: check aliases, exclusions, serializers.",
            )

    def _document(self, instance: S, max_depth: int) -> tuple[JSONObject, str]:
        """Return the guarded document and its text: by the compiled encoder where that is enough."""
        try:
            encoded = self.schema.__pydantic_serializer__.to_json(
                instance, by_alias=True, round_trip=True, warnings=False
            )
            text, document = encoded.decode(), from_json(encoded, allow_inf_nan=False)
        except ValueError:  # a value that JSON can't hold: the guards tell which
            text, document = "", None
        if document is None or not guards.harmless(document, text, max_depth=max_depth):
            return guards.encode_json(self._plain(instance), max_depth=max_depth)
        if has_sets(self.schema):
            order_sets(instance, document)
            text = guards.quick_json(document)
        return document, text

    def _plain(self, instance: BaseModel) -> JSONObject:
        document = instance.model_dump(mode="json", by_alias=True, round_trip=True, warnings=False)
        if has_sets(self.schema):
            order_sets(instance, document)
        return document

    def decode(self, text: str) -> tuple[S | None, JSONObject, dict[str, list[str]]]:
        """Return the instance, the raw object and the errors of one stored text.

        Keys that the schema does not know are ignored; a row that does not fit gives None and errors.
        """
        raw = _parse(text)
        try:
            return self.validator.validate_json(text, extra="ignore"), raw, {}
        except ValidationError as error:
            return None, raw, flat_errors(error)

    def merge(
        self, text: str, patch: JSONObject, unset: Iterable[str], *, max_bytes: int, max_depth: int
    ) -> tuple[S, Document, Document | None]:
        """Return the instance and document after ``patch`` and ``unset``, and the effective patch.

        The effective patch is ``{"set": {...}, "unset": [...]}``, or None when nothing changes.
        Stored keys that the schema no longer has are dropped, and listed under ``unset``.
        """
        unset = list(unset)
        before, raw, _ = self.decode(text)
        raw = raw if isinstance(raw, dict) else {}  # spoiled by hand
        # Not guarded: a patch may be what brings a row back within limits that were lowered.
        base = raw if before is None else self._plain(before)
        merged = {
            key: value for key, value in {**base, **patch}.items() if key in self.fields and key not in unset
        }
        given = guards.quick_json(merged)
        instance = self._validate_merged(given, patch)
        after = self.dump(instance, given=given, max_bytes=max_bytes, max_depth=max_depth)
        if after.text != given:
            self._refuse_epochs(guards.quick_json(patch), after)
        if before is not None and same_json(base, after.value):
            return instance, after, None
        return instance, after, _effective(raw, after.value, unset)

    def replacement(
        self, text: str, given: str, *, max_bytes: int, max_depth: int
    ) -> tuple[S, Document, Document | None]:
        """Return what replacing the stored text by the guarded ``given`` comes to, as ``merge`` does."""
        instance, document = self.validate(given, max_bytes=max_bytes, max_depth=max_depth)
        before, raw, _ = self.decode(text)
        if before is not None and same_json(self._plain(before), document.value):
            return instance, document, None
        return instance, document, _effective(raw if isinstance(raw, dict) else {}, document.value, [])

    def _validate_merged(self, text: str, patch: JSONObject) -> S:
        instance: S
        try:
            instance = self.validator.validate_json(text)
        except ValidationError as error:
            # Unknown keys inside values that the caller did not send are drift, not the caller's.
            own = [e for e in error.errors() if e["type"] != "extra_forbidden" or e["loc"][0] in patch]
            if own:
                self._refuse(flat_errors(error, only=own))
            instance = self.validator.validate_json(text, extra="ignore")
        return instance

    def check_keys(self, keys: Iterable[str], where: str) -> None:
        """Raise ``ValidationFailed`` for keys that the schema does not have, naming the closest."""
        unknown = [key for key in keys if key not in self.fields]
        if unknown:
            problem = f"There is no field {unknown[0]!r}."
            raise ValidationFailed(
                f"{self.name}: {problem[:-1]} in {where}.",
                hint=suggest(unknown[0], self.fields),
                errors={key: ["There is no such field."] for key in unknown},
            )

    def _check_indexed(self, document: JSONObject) -> None:
        for key in self.indexed:
            size = _indexed_size(document.get(key))
            if size > MAX_INDEXED_BYTES:
                guards.refuse(key, f"The field is indexed: {size:,} bytes are over {MAX_INDEXED_BYTES:,}.")

    def _refuse(self, errors: dict[str, list[str]]) -> NoReturn:
        shown = "; ".join(
            f"{path or self.name}: {messages[0]}" for path, messages in list(errors.items())[:3]
        )
        more = f"; and {len(errors) - 3} more" if len(errors) > 3 else ""
        hint = ""
        unknown = [path for path, messages in errors.items() if "There is no such field." in messages]
        if unknown:
            hint = suggest(unknown[0], self.fields)
        raise ValidationFailed(
            f"{self.name} does not fit its schema: {shown}{more}", hint=hint, errors=errors
        )


def _indexed_size(value: JSONValue) -> int:
    """Return the bytes of a value's text; 0 where it is surely short."""
    if isinstance(value, str):
        return len(value.encode()) if len(value) * 4 > MAX_INDEXED_BYTES else 0
    if isinstance(value, int) and not -_SHORT < value < _SHORT:
        return len(str(abs(value)))
    return 0


def suggest(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the closest of ``known``, and all of them."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1)
    lead = f"Did you mean {close[0]!r}? " if close else ""
    return f"{lead}Valid: {', '.join(names)}."


def flat_errors(error: ValidationError, *, only: list[Any] | None = None) -> dict[str, list[str]]:
    """Return pydantic's errors as dotted path -> messages."""
    found: dict[str, list[str]] = {}
    for item in error.errors() if only is None else only:
        message = "There is no such field." if item["type"] == "extra_forbidden" else item["msg"]
        message = message.removeprefix("Value error, ")
        found.setdefault(".".join(map(str, item["loc"])), []).append(message)
    return found


def _effective(raw: JSONObject, after: JSONObject, unset: list[str]) -> Document:
    changed = {key: value for key, value in after.items() if key not in raw or not same_json(raw[key], value)}
    gone = [key for key in raw if key not in after]
    patch = {"set": changed, "unset": sorted({key for key in unset if key in changed} | set(gone))}
    return Document(patch, keep_floats(guards.quick_json(patch)))


def _parse(text: str) -> JSONValue:
    """Parse stored JSON as ``json.loads`` does, which takes three times as long."""
    try:
        return from_json(text)
    except ValueError:  # only a row spoiled by hand holds a lone surrogate, or numbers without end
        return json.loads(text, parse_int=_whole)


def _whole(digits: str) -> JSONValue:
    return int(digits) if len(digits) <= guards.MAX_DIGITS else digits


def exact_value(text: str, key: str) -> JSONValue:
    """Return one top-level value of a stored text, its numbers exact (``Decimal``)."""
    document = exact_json(text)
    return document.get(key) if isinstance(document, dict) else None
