"""The bodies of entities over REST: how rows and changes are shown, how new data is taken out.

No REST framework here, and no store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from agentstore.core import guards
from agentstore.core.requests import checked_keys
from agentstore.core.values import EntityRow, HistoryEntry, JSONObject, JSONValue, utc_text
from agentstore.entities.fields import SchemaField

__all__ = [
    "ECHOED",
    "MAX_BULK",
    "data_of",
    "entry_body",
    "entry_id",
    "items_of",
    "patch_of",
    "row_body",
    "unset_of",
]

#: How many rows one bulk request makes.
MAX_BULK = 500
#: What a row shows beside its data; ignored when it comes back with the data.
ECHOED = ("id", "version", "created_at", "updated_at", "deleted_at", "raw", "schema_errors")


def row_body(row: EntityRow[Any]) -> JSONObject:
    """Return a row as it is shown; one that no longer fits its schema shows what is stored, and why.

    A deleted row says when it was deleted.
    """
    body: JSONObject = {
        "id": str(row.id),
        "version": row.version,
        "created_at": utc_text(row.created_at),
        "updated_at": utc_text(row.updated_at),
    }
    if row.deleted_at is not None:
        body["deleted_at"] = utc_text(row.deleted_at)
    if row.data is None:
        return {**body, "data": None, "raw": row.raw, "schema_errors": dict(row.schema_errors)}
    data = row.data.model_dump(mode="json", by_alias=True, round_trip=True, warnings=False)
    return {**body, "data": data}


def entry_body(entry: HistoryEntry) -> JSONObject:
    """Return an audited change as it is shown."""
    return {
        "id": str(entry.id),
        "op": entry.op,
        "version": entry.version,
        "patch": entry.patch,
        "actor": entry.actor,
        "reason": entry.reason,
        "context": entry.context,
        "at": utc_text(entry.at),
    }


def data_of(body: JSONObject, path: str = "data") -> JSONValue:
    """Return the data of a body.

    Raises:
        ValidationFailed: it has none; the error stands under ``path``.
    """
    if "data" not in body:
        guards.refuse(path, "The key is missing.", 'Send {"data": {...}}.')
    return body["data"]


def patch_of(body: JSONObject) -> JSONObject:
    """Return the fields that a patch sets; none where it has no data.

    Raises:
        ValidationFailed: its data is not an object.
    """
    patch = body.get("data", {})
    if not isinstance(patch, dict):
        guards.refuse("data", f"Expected an object of fields, found {type(patch).__name__}.")
    return patch


def unset_of(body: JSONObject, fields: Mapping[str, SchemaField]) -> Sequence[str]:
    """Return the fields that a patch resets; one that its data sets as well ends as set.

    Raises:
        ValidationFailed: ``unset`` is not a list.
    """
    names = body.get("unset", [])
    if not isinstance(names, list):
        guards.refuse("unset", f"Expected a list of field names, found {type(names).__name__}.")
    optional = {key for key, field in fields.items() if not field.required}
    both = optional.intersection(body.get("data", {}))
    return [name for name in names if not (isinstance(name, str) and name in both)]


def items_of(body: JSONValue) -> list[JSONValue]:
    """Return the data of each new row of a bulk request.

    Raises:
        ValidationFailed: it is not a list of bodies, or over 500 of them.
    """
    if not isinstance(body, list):
        guards.refuse("", 'Expected a list of {"data": {...}} objects.')
    if len(body) > MAX_BULK:
        guards.refuse("", f"One request takes up to {MAX_BULK} rows, found {len(body):,}.", "Send several.")
    for number, item in enumerate(body):
        if not isinstance(item, dict):
            guards.refuse(str(number), f"Expected an object, found {type(item).__name__}.")
        checked_keys(item, known=["data"], ignored=ECHOED, path=str(number))
    return [data_of(item, f"{number}.data") for number, item in enumerate(body)]


def entry_id(cursor: str) -> UUID:
    """Return the place in a history where a page ended.

    Raises:
        ValidationFailed: it is none.
    """
    try:
        return UUID(cursor)
    except ValueError:
        guards.refuse("cursor", "This is not a cursor.", "Leave the cursor out to start again.")
