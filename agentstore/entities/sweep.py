"""The one door across tenants: iterate over every tenant's rows, for dispatchers. Always logged."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import router

from agentstore.core import guards
from agentstore.core.context import MAX_REASON
from agentstore.core.storage import translate_errors
from agentstore.core.tenancy import check_label
from agentstore.core.values import EntityRow
from agentstore.entities.backend import PageRequest, RawRow
from agentstore.entities.pages import fetch_rows, read_page
from agentstore.entities.query import MAX_LIMIT, parse_filter, parse_order
from agentstore.entities.reading import codec_of, position_of, to_row

if TYPE_CHECKING:
    from agentstore.entities.base import EntityModel

__all__ = ["sweep"]

logger = logging.getLogger("agentstore.sweep")


def sweep(
    model: type[EntityModel], filter: object, *, order_by: str | None, reason: str
) -> Iterator[EntityRow[Any]]:
    """Check the call, log it with its reason, and return the iterator over all tenants' rows.

    Raises:
        ValidationFailed: the filter, the order or the reason does not hold.
    """
    if not check_label(reason, "reason", longest=MAX_REASON).strip():
        guards.refuse("reason", "A sweep crosses tenants: say why.")
    fields = codec_of(model).fields
    request = PageRequest(
        clauses=parse_filter(filter, fields), order=parse_order(order_by, fields), size=MAX_LIMIT
    )
    logger.info("sweep of %s: %s", model.entity.name, reason)
    return _rows(model, request)


def _rows(model: type[EntityModel], request: PageRequest) -> Iterator[EntityRow[Any]]:
    while True:
        found = _page(model, request)
        for raw in found:
            yield to_row(codec_of(model), raw)
        if len(found) < request.size:
            return
        position = position_of(request.order, found[-1])
        request = PageRequest(
            clauses=request.clauses, order=request.order, size=request.size, position=position
        )


@translate_errors
def _page(model: type[EntityModel], request: PageRequest) -> list[RawRow]:
    rows = model._base_manager.using(router.db_for_write(model))
    return read_page(partial(fetch_rows, rows), request)
