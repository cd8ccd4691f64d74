"""The creating half of an entity's store: quota, idempotency keys, and what every write needs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar, Unpack
from uuid import UUID

from django.db import transaction

from agentstore.conf import settings
from agentstore.core import errors, guards
from agentstore.core.context import Acting, Who, resolve
from agentstore.core.tenancy import check_label
from agentstore.core.values import EntityRow, new_id, now
from agentstore.entities.backend import Change, Claim, Outcome, RawRow
from agentstore.entities.codec import Document
from agentstore.entities.reading import ReadingStore, to_row
from agentstore.entities.schema import EntitySchema
from agentstore.signals import row_changed

__all__ = ["CreatingStore"]

S = TypeVar("S", bound=EntitySchema)

#: A key of more bytes is stored by its digest.
MAX_KEY_BYTES = 255


class CreatingStore(ReadingStore[S]):
    """Reads one tenant's rows of one entity, and makes new ones."""

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
        limits = self._limits
        for number, item in enumerate(items):
            try:
                encoded.append(self.codec.encode(item, **limits))
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
        while (outcome := rows.insert(changes, limit, claim)) is Outcome.SEEN and claim is not None:
            seen = rows.claimed(claim)
            if seen is not None:  # else it expired, and was removed in between
                return self._replay(seen, claim, key)
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
            key=_short(key),
            fingerprint=hashlib.sha256(text.encode()).hexdigest(),
            at=at,
            expired_before=at - timedelta(hours=settings.IDEMPOTENCY_HOURS),
        )

    def _replay(self, seen: tuple[str, list[UUID]], claim: Claim, key: str | None) -> list[EntityRow[S]]:
        fingerprint, ids = seen
        if fingerprint != claim.fingerprint:
            raise errors.Conflict(
                f"The idempotency key {key!r} was used before, with other data.",
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

    def _change(
        self, op: str, id: UUID, version: int, acting: Acting, at: datetime, **details: Any
    ) -> Change:
        return Change(
            op=op, id=id, audit_id=new_id(), version=version, at=at,
            actor=acting.actor, reason=acting.reason, context=acting.context, **details,
        )  # fmt: skip

    def _announce(self, changes: list[Change], *, version: int | None = None) -> None:
        """Tell of the writes of one call once they are committed."""
        if not row_changed.receivers or not row_changed.has_listeners(self.model):
            return
        first = changes[0]
        send = partial(
            row_changed.send_robust, sender=self.model, tenant=self.tenant, op=first.op,
            version=version or first.version, actor=first.actor,
        )  # fmt: skip
        # An import of a million rows waits for its commit: sixteen bytes a row, not an object.
        ids = b"".join(change.id.bytes for change in changes)
        transaction.on_commit(partial(_tell, send, ids), using=self.alias)

    def _full(self, limit: int, wanted: int) -> errors.QuotaExceeded:
        asked = "" if wanted == 1 else f" for {wanted:,} rows"
        return errors.QuotaExceeded(
            f"{self.name}: there is no place left{asked}; the limit is {limit:,} rows.",
            hint="Delete rows that are no longer needed, or have max_rows_per_tenant raised.",
        )


def _short(key: str) -> str:
    """Return a key as it is stored: with tenant and actor it has to fit into 2,704 bytes of an index."""
    data = key.encode()
    return key if len(data) <= MAX_KEY_BYTES else f"sha256:{hashlib.sha256(data).hexdigest()}"


def _tell(send: Callable[..., object], ids: bytes) -> None:
    """Send a signal for each of the ids, which stand one behind the other."""
    for start in range(0, len(ids), 16):
        send(id=UUID(bytes=ids[start : start + 16]))
