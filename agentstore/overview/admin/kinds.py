"""What a user may see of it all: which kinds, of which tenants, and where their pages are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db import models, router
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from agentstore.core.access import get_access
from agentstore.core.tenancy import is_tenant
from agentstore.entities.base import EntityModel
from agentstore.entities.registry import all_entities
from agentstore.files.models import AgentFile
from agentstore.strategies.models import Incident, Strategy
from agentstore.strategies.portable import COUNTER

__all__ = ["Kind", "Sight"]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of what is kept; ``counter`` is the name of its usage counter, if it has one."""

    model: type[models.Model]
    capability: str
    plural: str
    word: str
    counter: str = ""


class Sight:
    """What the user of a request may see in an admin site.

    A kind that the site does not register, or whose registration lets the user view nothing, is
    not there; nor are tenants that the access class leaves out.
    """

    def __init__(self, request: HttpRequest, site: admin.AdminSite) -> None:
        self.site = site
        self._user, self._access = request.user, get_access()
        self._allowed: dict[tuple[str, str], bool] = {}
        views = partial(self._views, request)
        self.entities = [_entity(model) for model in all_entities() if views(model)]
        self.strategies = _of(Strategy, "strategies", COUNTER) if views(Strategy) else None
        self.files = _of(AgentFile, "files") if views(AgentFile) else None
        self.incidents = _of(Incident, "strategies") if views(Incident) else None

    @property
    def kinds(self) -> list[Kind]:
        """Every kind that the user may see, incidents aside, in the order of the page."""
        return [*self.entities, *(kind for kind in (self.strategies, self.files) if kind)]

    def __bool__(self) -> bool:
        return bool(self.kinds or self.incidents)

    @cached_property
    def tenants(self) -> Collection[str] | None:
        """The tenants that the access class names; None means all."""
        found = self._access.admin_tenants(self._user)
        return None if found is None else sorted(found)

    def shows(self, kind: Kind, tenant: str) -> bool:
        """Tell whether the user may see what a tenant, of those that may be seen, keeps of a kind."""
        key = (kind.capability, tenant)
        if key not in self._allowed:
            self._allowed[key] = is_tenant(tenant) and self._access.allows(
                self._user, tenant, kind.capability, "view"
            )
        return self._allowed[key]

    def rows(self, model: type[models.Model]) -> models.QuerySet[Any]:
        """Return a table's rows of the tenants that the access class names."""
        rows = model._base_manager.using(router.db_for_write(model))
        return rows.all() if self.tenants is None else rows.filter(tenant__in=self.tenants)

    def url(self, kind: Kind, page: str, /, *args: object, **query: object) -> str:
        """Return the address of one of a kind's pages; empty text where the site has no such page."""
        name = f"admin:{kind.model._meta.app_label}_{kind.model._meta.model_name}_{page}"
        try:
            path = reverse(name, args=args, current_app=self.site.name)
        except NoReverseMatch:
            return ""
        return f"{path}?{urlencode(query)}" if query else path

    def _views(self, request: HttpRequest, model: type[models.Model]) -> bool:
        if not self.site.is_registered(model):
            return False
        return self.site.get_model_admin(model).has_view_permission(request)


def _entity(model: type[EntityModel]) -> Kind:
    return _of(model, f"entities.{model.entity.name}", model.entity.name)


def _of(model: type[models.Model], capability: str, counter: str = "") -> Kind:
    words = model._meta.verbose_name, model._meta.verbose_name_plural
    if model is AgentFile:  # beside rows and strategies the agent goes without saying
        words = _("file"), _("files")
    word, plural = map(str, words)
    return Kind(model=model, capability=capability, plural=capfirst(plural), word=word, counter=counter)
