"""What the doctor finds, and how a capability lets it look at what is its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias
from uuid import UUID

from agentstore.core.values import JSONObject

__all__ = ["Check", "Examined", "Finding", "miscounted"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that the doctor found.

    ``kind`` is stable: misfit, extra_keys, tokenizer, counter, migrations, connection, check. A hint
    (``problem=False``) is worth a look; a ``repaired`` problem is none any more.
    """

    kind: str
    message: str
    hint: str = ""
    problem: bool = True
    repaired: bool = False
    entity: str = ""
    tenant: str = ""
    row: UUID | None = None
    errors: dict[str, list[str]] = field(default_factory=dict)

    def as_dict(self) -> JSONObject:
        """Return it as JSON, without what it does not have."""
        found: JSONObject = {"kind": self.kind, "problem": self.problem, "message": self.message}
        details = {
            "hint": self.hint,
            "entity": self.entity,
            "tenant": self.tenant,
            "row": "" if self.row is None else str(self.row),
            "errors": self.errors,
            "repaired": self.repaired,
        }
        return found | {name: value for name, value in details.items() if value}


class Examined(Protocol):
    """What a check is told: whose rows to look at, whether to repair; it counts the rows it looked at."""

    tenant: str | None
    repair: bool
    rows: int


Check: TypeAlias = Callable[[Examined], Iterator[Finding]]


def miscounted(*, entity: str, tenant: str, used: int, there: str, recounted: int | None) -> Finding:
    """Return what is found of a counter that says ``used`` where there are others; None: not recounted."""
    message = f"The counter says {used:,}, there are {there}."
    if recounted is not None:
        message += f" Recounted: {recounted:,}."
    hint = "Run agentstore_doctor --repair." if recounted is None else ""
    return Finding(
        kind="counter", message=message, entity=entity, tenant=tenant, repaired=not hint, hint=hint
    )
