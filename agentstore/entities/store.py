"""The store of one entity and tenant: every read and write passes here, and is decided here.

Validation, quota, version, audit and tenancy are checked here and nowhere else; the surfaces
(REST, admin, tools, commands) call it, and the back ends persist what it decided.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, Unpack
from uuid import UUID

from agentstore.core import errors, guards
from agentstore.core.context import Who, resolve
from agentstore.core.values import EntityRow, JSONObject, JSONValue, now
from agentstore.entities.aio import AsyncTwins
from agentstore.entities.backend import FULL_EVERY, Outcome, RawRow
from agentstore.entities.codec import Document
from agentstore.entities.creating import CreatingStore
from agentstore.entities.reading import parse_id, parse_version, to_row
from agentstore.entities.schema import EntitySchema

__all__ = ["EntityStore"]

S = TypeVar("S", bound=EntitySchema)

#: How often a write without ``expected_version`` is decided anew when others write the same row.
ATTEMPTS = 50

#: What a decision gives: the instance, its document, and the effective patch (None: no change).
Decision = tuple[S, Document, Document | None]


class EntityStore(AsyncTwins[S], CreatingStore[S]):
    """Reads and writes one tenant's rows of one entity; get one from ``Model.store(tenant)``.

    Every write is one transaction that holds precondition, change, quota and audit; inside a
    caller's ``atomic()`` it joins that block, and a refusal leaves the block usable. Every write
    takes ``actor``, ``reason`` and ``context``, which beat the store's own and the ambient ones.
    """

    def update(
        self,
        id: UUID | str,
        patch: Mapping[str, JSONValue] | None = None,
        *,
        unset: Iterable[str] = (),
        expected_version: int | None = None,
        **who: Unpack[Who],
    ) -> EntityRow[S]:
        """Replace the top-level fields in ``patch``; reset those in ``unset`` to their defaults.

        Without ``expected_version`` the patch is applied to whatever the row is at, and concurrent
        patches of different fields all survive. A patch that changes nothing makes no version.

        Raises:
            ValidationFailed: the patch is no object, or the row would not fit the schema.
            NotFound: there is no live row of that id.
            Conflict: the row is not at ``expected_version``.
            TooLarge: the row would be over ``MAX_ROW_BYTES``.
        """
        limits = self._limits
        fields, names = self._check_patch({} if patch is None else patch, unset, **limits)
        return self._swap(
            id, lambda text: self.codec.merge(text, fields, names, **limits), expected_version, who
        )

    def replace(
        self, id: UUID | str, data: object, *, expected_version: int | None = None, **who: Unpack[Who]
    ) -> EntityRow[S]:
        """Replace the whole document of a live row; what ``data`` leaves out gets its default.

        Raises:
            ValidationFailed: the data does not fit the schema.
            NotFound: there is no live row of that id.
            Conflict: the row is not at ``expected_version``.
            TooLarge: the row is over ``MAX_ROW_BYTES``.
        """
        limits = self._limits
        given = self.codec.guard(data, **limits)
        return self._swap(
            id, lambda text: self.codec.replacement(text, given, **limits), expected_version, who
        )

    def _check_patch(
        self, patch: object, unset: Iterable[str], *, max_bytes: int, max_depth: int
    ) -> tuple[JSONObject, list[str]]:
        if not isinstance(patch, Mapping):
            guards.refuse("", f"Expected an object of fields, found {type(patch).__name__}.")
        fields, text = guards.encode_json(patch, max_depth=max_depth)
        guards.check_size(text, limit=max_bytes, what="The patch")
        names = self._check_unset(unset)
        self.codec.check_keys(fields, "the patch")
        for name in names:
            if name in fields:
                guards.refuse(name, "The field is both set and unset.")
        return fields, names

    def _check_unset(self, unset: Iterable[str]) -> list[str]:
        if isinstance(unset, str) or not isinstance(unset, Iterable):
            guards.refuse("unset", f"Expected a list of field names, found {type(unset).__name__}.")
        names = [guards.check_text(name, "unset") for name in unset]
        self.codec.check_keys(names, "unset")
        for name in names:
            if self.codec.fields[name].required:
                guards.refuse(name, "The field is required: it has no default to go back to.")
        return names

    def _swap(
        self, id: UUID | str, decide: Callable[[str], Decision[S]], expected_version: int | None, who: Who
    ) -> EntityRow[S]:
        """Decide on what the row is now and write only if it still is that; else decide anew."""
        expected, key = parse_version(expected_version, "expected_version"), parse_id(id)
        acting = resolve(**who, default=self._who)
        current, rows = None, self._rows
        for attempt in range(ATTEMPTS):
            raw = None if key is None else rows.get(key)
            if raw is None:
                raise self.not_found(id)
            if expected is not None and raw.version != expected:
                raise self._stale(raw, expected)
            current = raw.version
            instance, document, patch = decide(raw.text)
            if patch is None:
                return to_row(self.codec, raw)
            at, version = now(), raw.version + 1
            change = self._change(
                "update", raw.id, version, acting, at, seen=raw.version, data=document, patch=patch,
                full=version % FULL_EVERY == 0,
            )  # fmt: skip
            if rows.update(change) is Outcome.DONE:
                self._announce([change])
                columns = {"id": raw.id, "version": version, "created_at": raw.created_at, "updated_at": at}
                return self._made(document, instance, **columns)
            time.sleep(random.uniform(0, 0.002 * attempt))  # noqa: S311 - spreads writers, guards nothing
        raise self._restless(key, current)

    def delete(self, id: UUID | str, *, expected_version: int | None = None, **who: Unpack[Who]) -> bool:
        """Delete a live row, softly: it frees its place and can be undeleted. False if there is none.

        Raises:
            ValidationFailed: ``expected_version`` is no int.
            Conflict: the row is not at ``expected_version``.
        """
        expected, key = parse_version(expected_version, "expected_version"), parse_id(id)
        acting = resolve(**who, default=self._who)
        if key is None:
            return False
        for _ in range(ATTEMPTS):
            change = self._change("delete", key, 0, acting, now(), seen=expected)
            version = self._rows.delete(change)
            if version:
                self._announce([change], version=version)
                return True
            raw = None if expected is None else self._rows.get(key)
            if raw is None or expected is None:
                return False
            if raw.version != expected:
                raise self._stale(raw, expected)
            # It got to that version in between: delete it now.
        raise self._restless(key)

    def undelete(self, id: UUID | str, **who: Unpack[Who]) -> EntityRow[S]:
        """Bring a deleted row back, at the version it had; a live row is returned as it is.

        Raises:
            NotFound: there is no row of that id, deleted or live.
            QuotaExceeded: the tenant has no place left.
        """
        key, acting = parse_id(id), resolve(**who, default=self._who)
        if key is None:
            raise self.not_found(id)
        for _ in range(ATTEMPTS):
            raw = self._rows.get(key, deleted=None)
            if raw is None:
                raise self.not_found(id)
            if raw.deleted_at is None:
                return to_row(self.codec, raw)
            limit = self.model.entity.capacity(self.tenant)
            change = self._change(
                "undelete", key, raw.version, acting, now(), seen=raw.version, deleted_at=raw.deleted_at
            )
            outcome = self._rows.undelete(change, limit)
            if outcome is Outcome.FULL:
                raise self._full(limit, 1)
            if outcome is Outcome.DONE:
                self._announce([change])
                return to_row(self.codec, raw._replace(deleted_at=None), changed=True)
            # Someone else brought it back in between, and may have deleted it again: look again.
        raise self._restless(key)

    def _stale(self, raw: RawRow, expected: int) -> errors.Conflict:
        return errors.Conflict(
            f"{self.name} row {raw.id} is at version {raw.version}, not {expected}.",
            hint="Read it again and reapply your change.",
            current_version=raw.version,
        )

    def _restless(self, id: UUID | None, version: int | None = None) -> errors.Conflict:
        return errors.Conflict(
            f"{self.name} row {id} changed {ATTEMPTS} times while it was being written.",
            hint="Try again later.",
            current_version=version,
        )
