"""Assembling a prompt from files, in an order, with a record of exactly what it is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from agentstore.core import guards
from agentstore.files.backend import Stored
from agentstore.files.names import check_name, name_key
from agentstore.files.reading import ReadingFiles
from agentstore.files.values import Part, Prompt

__all__ = ["Assembling"]


class Assembling(ReadingFiles):
    """Puts files together; never cuts, never looks on a disk."""

    def assemble(self, order: Iterable[str], base: Assembling | None = None) -> Prompt:
        """Join the named files by a blank line, in order; blank and missing ones are left out.

        The agent's own file goes before the one of ``base`` (another agent's store, say a default).

        Raises:
            ValidationFailed: ``order`` is not a list of file names, or ``base`` no store of files.
        """
        if isinstance(order, str) or not isinstance(order, Iterable):
            guards.refuse("order", f"Expected a list of file names, found {type(order).__name__}.")
        if base is not None and not isinstance(base, Assembling):
            guards.refuse("base", f"Expected another agent's store, found {type(base).__name__}.")
        keys = dict.fromkeys(name_key(check_name(name)) for name in order)
        own, below = self._contents(keys), base._contents(keys) if base is not None else {}
        texts: list[str] = []
        parts: list[Part] = []
        for key in keys:
            store, found = (self, own[key]) if key in own else (base, below.get(key))
            if store is None or found is None or not found[1].strip():
                continue
            row, text = found
            texts.append(text)
            parts.append(
                Part(
                    name=row.name,
                    tenant=store.tenant,
                    agent=store.agent,
                    version=row.version,
                    sha256=row.sha256,
                    length=len(text),
                )
            )
        whole = "\n\n".join(texts)
        return Prompt(text=whole, parts=parts, digest=hashlib.sha256(whole.encode()).hexdigest())

    def _contents(self, keys: Iterable[str]) -> dict[str, tuple[Stored, str]]:
        rows = (
            self._files.live()
            .filter(name_key__in=list(keys))
            .values_list(*Stored._fields, "content", "name_key")
        )
        return {row[-1]: (Stored._make(row[:-2]), row[-2]) for row in self._files.fetch(rows)}
