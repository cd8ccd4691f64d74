"""What the admin screens of all capabilities share: tenants, permissions, times, usage, log, pages.

``StoreAdmin`` is the base of every admin class here: it shows the rows of the tenants that the access
class lets a member of staff see, and leaves every change to a store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import django
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import unquote
from django.contrib.auth import get_permission_codename
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import models, router
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import formats, timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from agentstore.core.access import get_access
from agentstore.core.context import MAX_REASON
from agentstore.core.values import Usage

__all__ = [
    "Crumb",
    "StoreAdmin",
    "UsageBar",
    "breaking",
    "tenant_label",
    "time_tag",
    "time_text",
    "zone_name",
]

T = TypeVar("T")

if TYPE_CHECKING:
    _Base = admin.ModelAdmin[Any]
else:
    _Base = admin.ModelAdmin


def time_text(moment: datetime) -> str:
    """Return a time in the viewer's zone, as every screen writes it: 30 Nov 2026, 14:02."""
    return str(formats.date_format(timezone.localtime(moment), "j M Y, H:i"))


def time_tag(moment: datetime) -> SafeString:
    """Return a ``<time>`` in the viewer's zone, with the time in UTC in its title."""
    utc = moment.astimezone(timezone.get_fixed_timezone(0))
    title = utc.strftime("%Y-%m-%d %H:%M:%S UTC")
    return format_html('<time datetime="{}" title="{}">{}</time>', utc.isoformat(), title, time_text(moment))


def zone_name() -> str:
    """Return the name of the viewer's zone; a screen with times names it once."""
    return timezone.get_current_timezone_name()


def tenant_label(tenant: str) -> str:
    """Return the name under which screens show a tenant."""
    return get_access().label(tenant)


def breaking(text: object) -> SafeString:
    """Return what may be one long word as a cell shows it: broken where it does not fit."""
    return format_html('<span class="as-breaks">{}</span>', text)


@dataclass(frozen=True, kw_only=True)
class Crumb:
    """One step of the breadcrumbs; the last one has no address."""

    label: object
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class UsageBar:
    """How full a tenant is: words, numbers, and a bar that is red only where writes are refused."""

    who: str
    usage: Usage
    noun: str
    full_text: str = ""
    left_text: str = ""

    @property
    def used(self) -> str:
        return f"{self.usage.used:,}"

    @property
    def capacity(self) -> str:
        return f"{self.usage.capacity:,}"

    @property
    def left(self) -> str:
        return f"{self.usage.remaining:,}"

    @property
    def full(self) -> bool:
        return not self.usage.remaining

    @property
    def width(self) -> str:
        """The width of the filled part, as an SVG attribute."""
        if not self.usage.capacity:
            return "100%"
        return f"{min(100.0, 100 * self.usage.used / self.usage.capacity):.2f}%"


class StoreAdmin(_Base):
    """Rows that only a store changes, of the tenants that the user may see.

    ``capability`` is what the access class is asked about, such as ``entities.reminders``.
    """

    capability = ""
    list_per_page = 50
    show_full_result_count = False

    class Media:
        css = {"all": ["agentstore/admin.css"]}

    # --- who may see and do what ---------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        """Return the rows, deleted ones included, of the tenants that the user may see."""
        rows: models.QuerySet[Any] = self.model._default_manager.using(router.db_for_write(self.model))
        tenants = self.tenants(request)
        return rows.all() if tenants is None else rows.filter(tenant__in=sorted(tenants))

    def tenants(self, request: HttpRequest) -> set[str] | None:
        """Return the tenants that the user may see here; None means all."""
        return self.once(request, "tenants", lambda: self._visible(request))

    def _visible(self, request: HttpRequest) -> set[str] | None:
        access = get_access()
        found = access.admin_tenants(request.user)
        if found is None:
            return None
        return {tenant for tenant in found if access.allows(request.user, tenant, self.capability, "view")}

    def once(self, request: HttpRequest, name: str, make: Callable[[], T]) -> T:
        """Return what ``make`` gives, made once for a request and this class."""
        kept: dict[tuple[object, str], Any] = request.__dict__.setdefault("_agentstore", {})
        if (self.model, name) not in kept:
            kept[self.model, name] = make()
        found: T = kept[self.model, name]
        return found

    def allows(self, request: HttpRequest, action: str, tenant: str) -> bool:
        """Tell whether the user holds the model permission, may see the tenant, and may do that to it."""
        tenants = self.tenants(request)
        return (
            self._has_model_permission(request, action)
            and (tenants is None or tenant in tenants)
            and get_access().allows(request.user, tenant, self.capability, action)
        )

    def require(self, request: HttpRequest, action: str, tenant: str) -> None:
        """Raise Django's ``PermissionDenied`` unless the user may."""
        if not self.allows(request, action, tenant):
            raise PermissionDenied

    def _has_model_permission(self, request: HttpRequest, action: str) -> bool:
        actions = ("view", "change") if action == "view" else (action,)
        names = [f"{self.opts.app_label}.{get_permission_codename(each, self.opts)}" for each in actions]
        return any(request.user.has_perm(name) for name in names)

    def _may(self, request: HttpRequest, action: str, obj: Any) -> bool:
        tenant = getattr(obj, "tenant", None)
        if tenant is None:
            return self._has_model_permission(request, action)
        return self.allows(request, action, tenant)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._may(request, "add", None)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, "view", obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, "change", obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, "delete", obj)

    def has_undelete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell whether the user may bring rows (that row) back."""
        return self._may(request, "undelete", obj)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the row if there is one that the user may see, else None."""
        found = super().get_object(request, unquote(object_id), from_field)
        return found if found is not None and self.has_view_permission(request, found) else None

    def not_found(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Answer as the admin does for a row that never was; its own answer has no public name."""
        answer: HttpResponse = self._get_obj_does_not_exist_redirect(  # type: ignore[attr-defined]
            request, self.opts, object_id
        )
        return answer

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list, or run an action on the rows that were ticked: what is not an id is no row."""
        if ACTION_CHECKBOX_NAME in request.POST:
            posted = request.POST.copy()
            ticked = [text for text in request.POST.getlist(ACTION_CHECKBOX_NAME) if self._is_id(text)]
            posted.setlist(ACTION_CHECKBOX_NAME, ticked)
            request.POST = posted  # type: ignore[assignment]
        return super().changelist_view(request, extra_context)

    def _is_id(self, text: object) -> bool:
        try:
            self.opts.pk.to_python(text)
        except ValidationError:
            return False
        return True

    # --- what was done -------------------------------------------------------------------------

    def actor(self, request: HttpRequest) -> str:
        """Return the label under which the user's changes are audited."""
        return get_access().actor(request.user)

    def reason(self, request: HttpRequest) -> str:
        """Return the reason that a form gave; one line of at most what a store takes."""
        return " ".join(request.POST.get("reason", "").replace("\0", "").split())[:MAX_REASON]

    def log(self, request: HttpRequest, objects: Iterable[models.Model], flag: int, message: str) -> None:
        """Write one ``LogEntry`` for each object."""
        rows = list(objects)
        if rows and request.user.pk is not None:
            LogEntry.objects.log_actions(request.user.pk, rows, flag, change_message=message)

    # --- pages ---------------------------------------------------------------------------------

    def url(self, name: str, *args: object) -> str:
        """Return the address of one of this class's pages."""
        full = f"admin:{self.opts.app_label}_{self.opts.model_name}_{name}"
        return reverse(full, args=args, current_app=self.admin_site.name)

    def crumbs(self, *steps: Crumb) -> list[Crumb]:
        """Return the breadcrumbs from the admin's home to a page of this class."""
        site = self.admin_site.name
        config = self.opts.app_config
        return [
            Crumb(label=_("Home"), url=reverse("admin:index", current_app=site)),
            Crumb(
                label=config.verbose_name if config else self.opts.app_label,
                url=reverse("admin:app_list", args=[self.opts.app_label], current_app=site),
            ),
            Crumb(label=capfirst(str(self.opts.verbose_name_plural)), url=self.url("changelist")),
            *steps,
        ]

    def page(
        self,
        request: HttpRequest,
        template: str,
        context: Mapping[str, Any],
        *,
        title: str,
        crumbs: Sequence[Crumb],
        subtitle: str = "",
        status: int = 200,
    ) -> TemplateResponse:
        """Answer with one of our templates inside the admin's frame."""
        request.current_app = self.admin_site.name
        frame = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "media": self.media,
            "title": title,
            "subtitle": subtitle or None,
            "crumbs": crumbs,
            "crumbs_as_list": django.VERSION >= (6, 1),
            "zone": zone_name(),
        }
        return TemplateResponse(request, template, {**frame, **context}, status=status)

    def done(self, request: HttpRequest, message: str, url: str) -> HttpResponse:
        """Say what was done and go on to a page."""
        self.message_user(request, message, messages.SUCCESS)
        return HttpResponseRedirect(url)
