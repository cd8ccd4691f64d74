"""``OverviewAdmin``: the page that shows all tenants at once. It reads, and changes nothing."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agentstore.core.admin import Crumb, StoreAdmin
from agentstore.overview.admin.cards import cards_of
from agentstore.overview.admin.changes import latest_changes
from agentstore.overview.admin.incidents import latest_incidents
from agentstore.overview.admin.kinds import Sight
from agentstore.overview.admin.tenants import MANY, SHOWN, Asked, Tenants
from agentstore.overview.models import Overview

__all__ = ["OverviewAdmin", "register_missing"]


class OverviewAdmin(StoreAdmin):
    """Tenants, their latest changes and incidents, as far as the user may see them elsewhere.

    It needs no permission of its own. A subclass may set the template's name.
    """

    model: type[Overview]
    change_list_template = "agentstore/admin/overview.html"

    def get_urls(self) -> list[URLPattern]:
        """Return the address of the page, which is all there is."""
        name = f"{self.opts.app_label}_{self.opts.model_name}_changelist"
        return [path("", self.admin_site.admin_view(self.changelist_view), name=name)]

    def sight(self, request: HttpRequest) -> Sight:
        """Return what the user may see."""
        return self.once(request, "sight", lambda: Sight(request, self.admin_site))

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Tell whether the admin's index lists the page: for whoever would see something there."""
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell whether the user may view any kind."""
        return bool(self.sight(request))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Tell that nothing is added here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell that nothing is changed here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell that nothing is deleted here."""
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the tenants, what changed last and what went wrong."""
        if request.method not in ("GET", "HEAD") or not self.has_view_permission(request):
            raise PermissionDenied
        sight, asked = self.sight(request), Asked.of(request)
        tenants = Tenants(sight, asked)
        cards = cards_of(sight, tenants.found, SHOWN)
        shown = [card.tenant for card in cards]
        hidden = tenants.count > SHOWN
        context = {
            "cards": cards,
            "asked": asked,
            "searchable": bool(asked) or len(tenants.all) > SHOWN,
            "count_text": _count_text(tenants.count),
            "hidden": hidden,
            "shown": SHOWN,
            "kinds": sight.kinds,
            "changes": latest_changes(sight, shown if asked or not hidden else None),
            "shows_incidents": sight.incidents is not None,
            "incidents": latest_incidents(sight, shown if asked else None),
            "incidents_url": sight.url(sight.incidents, "changelist") if sight.incidents else "",
            **(extra_context or {}),
        }
        title = _("Agentstore overview")
        return self.page(request, self.change_list_template, context, title=title, crumbs=self.crumbs())

    def crumbs(self, *steps: Crumb) -> list[Crumb]:
        """Return the breadcrumbs from the admin's home to the page."""
        site = self.admin_site.name
        label = self.opts.app_label
        return [
            Crumb(label=_("Home"), url=reverse("admin:index", current_app=site)),
            Crumb(label=_app_name(label), url=reverse("admin:app_list", args=[label], current_app=site)),
            Crumb(label=_("Overview")),
            *steps,
        ]


def _app_name(label: str) -> str:
    return str(apps.get_app_config(label).verbose_name)


def _count_text(count: int) -> str:
    if count > MANY:
        return _("More than %s tenants.") % f"{MANY:,}"
    return ngettext("%s tenant.", "%s tenants.", count) % f"{count:,}"


def register_missing(site: admin.AdminSite) -> None:
    """Register the page unless the host did: its own registration wins."""
    if not site.is_registered(Overview):
        site.register(Overview, OverviewAdmin)
