"""What each method of a remote store asks and how it reads the answers; nothing here sends anything.

A plan is a generator: it yields calls and is sent their answers, so that one text serves the store
that waits and the store that awaits.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar, cast
from urllib.parse import quote
from uuid import UUID, uuid4

from pydantic import BaseModel

from agentstore.core import errors
from agentstore.core.values import EntityRow, HistoryEntry, JSONObject, JSONValue, Page, Usage, Who
from agentstore.remote.answers import TENANT_HEADER, Answer, entries_of, error_of, row_of, tenant_of
from agentstore.remote.encoding import (
    check_key,
    check_name,
    check_tenant,
    check_version,
    parse_id,
    refuse,
    to_json,
)
from agentstore.remote.retrying import Call
from agentstore.remote.saying import check_context, check_reason, why_headers

__all__ = ["DEFAULT_LIMIT", "PAGE", "Plan", "Plans"]

S = TypeVar("S")
T = TypeVar("T")
Plan: TypeAlias = Generator[Call, Answer, T]

#: How many rows a page has unless it is told otherwise, and how many at most.
DEFAULT_LIMIT, PAGE = 25, 100
#: Stands in an address for an id that no row can have, so that the server checks all the rest.
_NO_ID = "-"


class Plans(Generic[S]):
    """The plans of one tenant's rows of one entity."""

    def __init__(
        self,
        name: str,
        *,
        tenant: str | None,
        schema: type[BaseModel] | None,
        reason: str | None = None,
        context: Mapping[str, JSONValue] | None = None,
    ) -> None:
        self.name = check_name(name)
        self.tenant = None if tenant is None else check_tenant(tenant)
        self.schema = _checked_schema(schema)
        self._reason, self._context = check_reason(reason), check_context(context)

    # --- reading ----------------------------------------------------------------------------

    def get(self, id: UUID | str, version: int | None, *, deleted: bool = False) -> Plan[EntityRow[S] | None]:
        wanted, key = check_version(version, "version"), parse_id(id)
        if key is None:
            return None
        params = {} if wanted is None else {"version": str(wanted)}
        if deleted:
            params["deleted"] = "true"
        answer = yield self._read("GET", f"{key}/", params=params)
        return None if answer.no_row else self._row(answer)

    def query(self, filter: object, limit: object, order_by: object, cursor: object) -> Plan[Page[S]]:
        asked = {"filter": _filter(filter), "limit": to_json(limit, path="limit")}
        asked |= {"order_by": to_json(order_by, path="order_by"), "cursor": to_json(cursor, path="cursor")}
        answer = yield self._read("POST", "query/", body=asked)
        return answer.read(lambda body: self._page(body, answer))

    def _page(self, body: JSONObject, answer: Answer) -> Page[S]:
        rows = self._rows(body, answer, changed=False)
        return Page(rows=rows, next_cursor=body["next_cursor"], limit=body["limit"])

    def count(self, filter: object) -> Plan[int]:
        answer = yield self._read("POST", "count/", body={"filter": _filter(filter)})
        return answer.read(lambda body: cast("int", body["count"]))

    def usage(self) -> Plan[Usage]:
        answer = yield self._read("GET", "usage/")
        return answer.read(lambda body: Usage(used=body["used"], capacity=body["capacity"]))

    def history(
        self, id: UUID | str, limit: int | None, before: UUID | str | None
    ) -> Plan[list[HistoryEntry]]:
        check_version(limit, "limit")
        key, last = parse_id(id), parse_id(before)
        if key is None or (before is not None and last is None):
            return []
        left = None if limit is None else max(limit, 1)
        found: list[HistoryEntry] = []
        cursor = None if last is None else str(last)
        while True:
            size = PAGE if left is None else min(left - len(found), PAGE)
            params = {"limit": str(size)} | ({} if cursor is None else {"cursor": cursor})
            answer = yield self._read("GET", f"{key}/history/", params=params)
            if answer.no_row:
                return found
            entries, cursor = answer.read(entries_of)
            found += entries
            if cursor is None or len(found) == left:
                return found

    # --- writing ----------------------------------------------------------------------------

    def create(self, data: object, idempotency_key: str | None, who: Who) -> Plan[EntityRow[S]]:
        headers = {**self._why(who), "Idempotency-Key": _key_of(idempotency_key)}
        body = {"data": to_json(data)}
        answer = yield self._write("POST", body=body, headers=headers, repeatable=True)
        made = answer.doubtful and idempotency_key is None  # only this call knows the key
        return self._row(answer, changed=made)

    def create_many(
        self, items: Iterable[object], idempotency_key: str | None, who: Who
    ) -> Plan[list[EntityRow[S]]]:
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
            refuse("", f"Expected a list of objects, found {type(items).__name__}.")
        body: list[JSONObject] = [
            {"data": to_json(item, path=str(number))} for number, item in enumerate(items)
        ]
        headers = {**self._why(who), "Idempotency-Key": _key_of(idempotency_key)}
        if not body:
            return []
        answer = yield self._write("POST", "bulk/", body=body, headers=headers, repeatable=True)
        changed = answer.changed or (answer.doubtful and idempotency_key is None)
        return answer.read(lambda body: self._rows(body, answer, changed=changed))

    def update(
        self, id: UUID | str, patch: object, unset: object, expected_version: int | None, who: Who
    ) -> Plan[EntityRow[S]]:
        fields = {} if patch is None else patch
        if not isinstance(fields, Mapping):
            refuse("", f"Expected an object of fields, found {type(fields).__name__}.")
        body = {"data": to_json(fields), "unset": _names(unset)}
        for name in body["unset"] if isinstance(body["unset"], list) else ():
            if isinstance(name, str) and name in body["data"]:
                refuse(name, "The field is both set and unset.")
        return (yield from self._changed("PATCH", id, body, expected_version, who))

    def replace(
        self, id: UUID | str, data: object, expected_version: int | None, who: Who
    ) -> Plan[EntityRow[S]]:
        return (yield from self._changed("PUT", id, {"data": to_json(data)}, expected_version, who))

    def _changed(
        self, method: str, id: UUID | str, body: JSONObject, expected_version: int | None, who: Who
    ) -> Plan[EntityRow[S]]:
        """Write under the version's condition: that makes it repeatable, for it cannot happen twice."""
        headers = {**self._why(who), **_if_match(expected_version)}
        conditional = "If-Match" in headers
        path = f"{parse_id(id) or _NO_ID}/"
        answer = yield self._write(method, path, body=body, headers=headers, repeatable=conditional)
        if answer.no_row:
            raise self.not_found(id)
        if answer.status == 412:
            error = self._stale(answer, id, expected_version)
            raise _perhaps_own(error) if answer.doubtful else error
        return self._row(answer)

    def delete(self, id: UUID | str, expected_version: int | None, who: Who) -> Plan[bool]:
        key, headers = parse_id(id), {**_if_match(expected_version), **self._why(who)}
        if key is None:
            return False
        answer = yield self._write("DELETE", f"{key}/", headers=headers, repeatable=True)
        if answer.no_row:
            return answer.doubtful and (yield from self._last_was(key, "delete"))
        if not answer.ok:
            raise self._stale(answer, id, expected_version)
        return True

    def undelete(self, id: UUID | str, who: Who) -> Plan[EntityRow[S]]:
        key, headers = parse_id(id), self._why(who)
        if key is None:
            raise self.not_found(id)
        answer = yield self._write("POST", f"{key}/undelete/", headers=headers, repeatable=True)
        if answer.no_row:
            raise self.not_found(id)
        own = answer.ok and answer.doubtful and (yield from self._last_was(key, "undelete"))
        return self._row(answer, changed=own)

    def _last_was(self, key: UUID, op: str) -> Plan[bool]:
        """Tell whether the last thing that happened to a row is what an earlier attempt asked for."""
        entries = yield from self.history(key, 1, None)
        return bool(entries) and entries[0].op == op

    def _stale(self, answer: Answer, id: UUID | str, expected_version: int | None) -> errors.AgentStoreError:
        """Return the error of an answer; of a version that no tag can name, in the store's words."""
        error = error_of(answer)
        if not isinstance(error, errors.Conflict) or error.current_version is None:
            return error
        if expected_version is None or expected_version > 0:
            return error
        return errors.Conflict(
            f"{self.name} row {parse_id(id)} is at version {error.current_version}, not {expected_version}.",
            hint="Read it again and reapply your change.",
            current_version=error.current_version,
        )

    def not_found(self, id: object) -> errors.NotFound:
        """Return the error for an id that the tenant does not have, whoever else may have it."""
        return errors.NotFound(
            f"There is no {self.name} row {str(id)[:100]}.", hint="It may have been deleted."
        )

    # --- calls and answers ------------------------------------------------------------------

    def _read(self, method: str, path: str, **details: Any) -> Call:
        return self._call(method, path, writes=False, repeatable=True, **details)

    def _write(self, method: str, path: str = "", **details: Any) -> Call:
        return self._call(method, path, writes=True, **details)

    def _call(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **details: Any
    ) -> Call:
        sent = dict(headers or {})
        if self.tenant is not None:
            sent[TENANT_HEADER] = quote(self.tenant, safe="")
        return Call(method=method, path=f"entities/{self.name}/{path}", headers=sent, **details)

    def _row(self, answer: Answer, *, changed: bool = False) -> EntityRow[S]:
        tenant, changed = tenant_of(answer, self.tenant or ""), changed or answer.changed
        return answer.read(lambda body: row_of(body, tenant, self.schema, changed=changed))

    def _rows(self, body: JSONObject, answer: Answer, *, changed: bool) -> list[EntityRow[S]]:
        tenant = tenant_of(answer, self.tenant or "")
        return [row_of(row, tenant, self.schema, changed=changed) for row in body["results"]]

    def _why(self, who: Who) -> dict[str, str]:
        return why_headers(self._reason, self._context, **who)


def _checked_schema(schema: Any) -> type[BaseModel] | None:
    if not (schema is None or (isinstance(schema, type) and issubclass(schema, BaseModel))):
        refuse("schema", f"Expected a pydantic model's class, found {schema!r:.100}.")
    return schema


def _filter(filter: object) -> JSONValue:
    if isinstance(filter, Mapping):
        return {str(key): to_json(value, path=str(key)) for key, value in filter.items()}
    return to_json(filter, path="filter")


def _names(unset: object) -> JSONValue:
    if isinstance(unset, Iterable) and not isinstance(unset, str):
        return [to_json(name, path="unset") for name in unset]
    return to_json(unset, path="unset")


def _key_of(idempotency_key: str | None) -> str:
    """Return the given key, or one of the call's own: a create that is sent twice happens once."""
    return uuid4().hex if idempotency_key is None else check_key(idempotency_key)


def _if_match(expected_version: int | None) -> dict[str, str]:
    version = check_version(expected_version, "expected_version")
    return {} if version is None else {"If-Match": f'"{version}"'}


def _perhaps_own(error: errors.AgentStoreError) -> errors.AgentStoreError:
    """Add to a conflict that the version met may be the work of an attempt whose answer was lost."""
    error.hint = f"An earlier attempt may have made that version itself. {error.hint}"
    return error
