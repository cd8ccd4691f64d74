"""The one door across tenants: iterate over every tenant's rows, for dispatchers. Always logged."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import router

from agentstore.core import guards
from agentstore.core.aio import run
from agentstore.core.context import MAX_REASON
from agentstore.core.storage import translate_errors
from agentstore.core.tenancy import check_label
from agentstore.core.values import EachOnce, EntityRow
from agentstore.entities.backend import PageRequest, RawRow
from agentstore.entities.pages import fetch_rows, read_page
from agentstore.entities.query import MAX_LIMIT, parse_filter, parse_order
from agentstore.entities.reading import codec_of, position_of, to_row

if TYPE_CHECKING:
    from agentstore.entities.base import EntityModel

__all__ = ["asweep", "sweep"]

logger = logging.getLogger("agentstore.sweep")


def sweep(
    model: type[EntityModel], filter: object, *, order_by: str | None, reason: str
) -> Iterator[EntityRow[Any]]:
    """Check the call, log it with its reason, and return the iterator over all tenants' rows.

    Raises:
        ValidationFailed: the filter, the order or the reason does not hold.
    """
    return _rows(model, _begin(model, filter, order_by, reason))


def asweep(
    model: type[EntityModel], filter: object, *, order_by: str | None, reason: str
) -> AsyncIterator[EntityRow[Any]]:
    """Do what ``sweep`` does, one hop to a thread a page."""
    return _arows(model, _begin(model, filter, order_by, reason))


def _begin(model: type[EntityModel], filter: object, order_by: str | None, reason: str) -> PageRequest:
    if not check_label(reason, "reason", longest=MAX_REASON).strip():
        guards.refuse("reason", "A sweep crosses tenants: say why.")
    fields = codec_of(model).fields
    request = PageRequest(
        clauses=parse_filter(filter, fields), order=parse_order(order_by, fields), size=MAX_LIMIT
    )
    logger.info("sweep of %s: %s", model.entity.name, reason)
    return request


def _rows(model: type[EntityModel], request: PageRequest) -> Iterator[EntityRow[Any]]:
    once = EachOnce(str(request.order))
    following: PageRequest | None = request
    while following is not None:
        found = _page(model, following)
        yield from once(to_row(codec_of(model), raw) for raw in found)
        following = _next(following, found)


async def _arows(model: type[EntityModel], request: PageRequest) -> AsyncIterator[EntityRow[Any]]:
    once = EachOnce(str(request.order))
    following: PageRequest | None = request
    while following is not None:
        found = await run(_page, model, following)
        for row in once(to_row(codec_of(model), raw) for raw in found):
            yield row
        following = _next(following, found)


def _next(request: PageRequest, found: list[RawRow]) -> PageRequest | None:
    """Return what to ask for behind a page, None where it was the last."""
    if len(found) < request.size:
        return None
    return replace(request, position=position_of(request.order, found[-1]))


@translate_errors
def _page(model: type[EntityModel], request: PageRequest) -> list[RawRow]:
    rows = model._base_manager.using(router.db_for_write(model))
    return read_page(partial(fetch_rows, rows), request)
