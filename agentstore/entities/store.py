"""The store of one entity and tenant: every read and write passes here, and is decided here.

Validation, quota, version, audit and tenancy are checked here and nowhere else; the surfaces
(REST, admin, tools, commands) call it, and the back ends persist what it decided.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from typing_extensions import Unpack

from agentstore.conf import settings
from agentstore.core import errors, guards
from agentstore.core.context import Acting, Who, resolve
from agentstore.core.tenancy import check_label
from agentstore.core.values import EntityRow, JSONObject, JSONValue, new_id, now
from agentstore.entities.aio import AsyncTwins
from agentstore.entities.backend import Change, Claim, Outcome, RawRow
from agentstore.entities.codec import Document
from agentstore.entities.reading import ReadingStore, parse_id, parse_version, to_row
from agentstore.entities.schema import EntitySchema
from agentstore.signals import row_changed

__all__ = ["EntityStore"]

S = TypeVar("S", bound=EntitySchema)

#: How often a write without ``expected_version`` is decided anew when others write the same row.
ATTEMPTS = 50
#: Every how many versions the audit keeps the full row, so that rebuilding one reads at most 50.
FULL_EVERY = 50

#: What a decision gives: the instance, its document, and the effective patch (None: no change).
Decision = tuple[S, Document, Document | None]


class EntityStore(AsyncTwins[S], ReadingStore[S]):
    """Reads and writes one tenant's rows of one entity; get one from ``Model.store(tenant)``.

    Every write is one transaction that holds precondition, change, quota and audit; inside a
    caller's ``atomic()`` it joins that block, and a refusal leaves the block usable. Every write
    takes ``actor``, ``reason`` and ``context``, which beat the store's own and the ambient ones.
    """

    def create(self, data: object, *, idempotency_key: str | None = None, **who: Unpack[Who]) -> EntityRow[S]:
        """Store a new row: a dict of JSON or plain Python values, or a ``Schema`` instance.

        With an ``idempotency_key`` the same call again, within 24 hours, returns what the first
        one made instead of making another row.

        Raises:
            ValidationFailed: the data does not fit the schema.
            TooLarge: the row is over ``MAX_ROW_BYTES``.
            QuotaExceeded: the tenant has no place left.
            Conflict: the key was used with other data.
        """
        encoded = self.codec.encode(data, **self._limits)
        return self._insert([encoded], "create", data, idempotency_key, who)[0]

    def create_many(
        self, items: Iterable[object], *, idempotency_key: str | None = None, **who: Unpack[Who]
    ) -> list[EntityRow[S]]:
        """Store new rows, all or none; in the order given.

        Raises:
            ValidationFailed: some items do not fit; ``errors`` has paths like ``3.text``.
            TooLarge: a row is over ``MAX_ROW_BYTES``.
            QuotaExceeded: the tenant has too few places left.
            Conflict: the key was used with other data.
        """
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
            guards.refuse("", f"Expected a list of objects, found {type(items).__name__}.")
        items = list(items)
        encoded = self._encode_all(items)
        return self._insert(encoded, "create_many", items, idempotency_key, who) if encoded else []

    def _encode_all(self, items: list[object]) -> list[tuple[S, Document]]:
        encoded: list[tuple[S, Document]] = []
        problems: dict[str, list[str]] = {}
        for number, item in enumerate(items):
            try:
                encoded.append(self.codec.encode(item, **self._limits))
            except errors.ValidationFailed as error:
                own = error.errors or {"": [error.message]}
                problems |= {f"{number}.{path}".rstrip("."): messages for path, messages in own.items()}
        if problems:
            path, messages = next(iter(problems.items()))
            bad = len({path.split(".")[0] for path in problems})
            raise errors.ValidationFailed(
                f"{self.name}: {bad} of {len(items):,} items do not fit; {path}: {messages[0]}",
                hint="Nothing was written. Correct them, or leave them out.",
                errors=problems,
            )
        return encoded

    def _insert(
        self, encoded: list[tuple[S, Document]], call: str, given: object, key: str | None, who: Who
    ) -> list[EntityRow[S]]:
        acting, at = resolve(**who, default=self._who), now()
        claim = None if key is None else self._claim(key, call, given, acting, at)
        changes = [
            self._change("create", new_id(), 1, acting, at, data=document, patch=document)
            for _, document in encoded
        ]
        rows, limit = self._rows, self.model.entity.capacity(self.tenant)
        outcome = rows.insert(changes, limit, claim)
        if outcome is Outcome.SEEN and claim is not None:
            return self._replay(claim)
        if outcome is Outcome.FULL:
            raise self._full(limit, len(changes))
        self._announce(changes)
        return [
            self._made(document, instance, id=change.id, version=1, created_at=at, updated_at=at)
            for (instance, document), change in zip(encoded, changes, strict=True)
        ]

    def _claim(self, key: str, call: str, given: object, acting: Acting, at: datetime) -> Claim:
        if not check_label(key, "idempotency_key", longest=255):
            guards.refuse("idempotency_key", "The key is empty.")
        plain = guards.to_json(given, max_depth=guards.MAX_DEPTH + 1)  # a list of items is one level more
        text = json.dumps([self.name, call, plain], sort_keys=True)
        return Claim(
            id=new_id(),
            actor=acting.actor,
            key=key,
            fingerprint=hashlib.sha256(text.encode()).hexdigest(),
            at=at,
            expired_before=at - timedelta(hours=settings.IDEMPOTENCY_HOURS),
        )

    def _replay(self, claim: Claim) -> list[EntityRow[S]]:
        fingerprint, ids = self._rows.claimed(claim)
        if fingerprint != claim.fingerprint:
            raise errors.Conflict(
                f"The idempotency key {claim.key!r} was used before, with other data.",
                hint="Send the same data again, or take a new key.",
            )
        return [self._as_created(id) for id in ids]

    def _as_created(self, id: UUID) -> EntityRow[S]:
        """Return a row as its create returned it, whatever became of it since."""
        created = [entry for entry in self._rows.history(id, limit=None, before=None) if entry.op == "create"]
        if not created or created[0].patch is None:
            raise self.not_found(id)
        at, text = created[0].at, guards.dump_json(created[0].patch)
        raw = RawRow(id, self.tenant, 1, at, at, None, text)
        return to_row(self.codec, raw)

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
        fields, names = self._check_patch({} if patch is None else patch, unset)
        limits = self._limits
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

    def _check_patch(self, patch: object, unset: Iterable[str]) -> tuple[JSONObject, list[str]]:
        if not isinstance(patch, Mapping):
            guards.refuse("", f"Expected an object of fields, found {type(patch).__name__}.")
        fields, text = guards.encode_json(patch, max_depth=self._limits["max_depth"])
        guards.check_size(text, limit=self._limits["max_bytes"], what="The patch")
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
        current = None
        for attempt in range(ATTEMPTS):
            raw = None if key is None else self._rows.get(key)
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
            if self._rows.update(change) is Outcome.DONE:
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
            change = self._change("undelete", key, raw.version, acting, now(), seen=raw.version)
            outcome = self._rows.undelete(change, limit)
            if outcome is Outcome.FULL:
                raise self._full(limit, 1)
            if outcome is Outcome.DONE:
                self._announce([change])
                return to_row(self.codec, raw._replace(deleted_at=None), changed=True)
            # Someone else brought it back in between: look again.
        raise self._restless(key)

    def _change(
        self, op: str, id: UUID, version: int, acting: Acting, at: datetime, **details: Any
    ) -> Change:
        return Change(
            op=op, id=id, audit_id=new_id(), version=version, at=at,
            actor=acting.actor, reason=acting.reason, context=acting.context, **details,
        )  # fmt: skip

    def _announce(self, changes: list[Change], *, version: int | None = None) -> None:
        if not row_changed.receivers or not row_changed.has_listeners(self.model):
            return
        for change in changes:
            send = partial(
                row_changed.send_robust, sender=self.model, tenant=self.tenant, id=change.id, op=change.op,
                version=version or change.version, actor=change.actor,
            )  # fmt: skip
            transaction.on_commit(send, using=self.alias)

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

    def _full(self, limit: int, wanted: int) -> errors.QuotaExceeded:
        asked = "" if wanted == 1 else f" for {wanted:,} rows"
        return errors.QuotaExceeded(
            f"{self.name}: there is no place left{asked}; the limit is {limit:,} rows.",
            hint="Delete rows that are no longer needed, or have max_rows_per_tenant raised.",
        )
