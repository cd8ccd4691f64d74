"""Adding one strategy by hand: a form, the store, the log."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agentstore.core import errors
from agentstore.core.admin import tenant_label
from agentstore.strategies.admin.exporting import ExportingAdmin
from agentstore.strategies.admin.words import words_of
from agentstore.strategies.entry import DEFAULT_CONFIDENCE, MAX_CONFIDENCE
from agentstore.strategies.values import SaveResult

__all__ = ["AddingAdmin"]


class StrategyForm(forms.Form):
    """What an operator may say of a strategy; the store is the judge of the texts."""

    problem = forms.CharField(
        label=gettext_lazy("Problem"),
        strip=False,
        widget=forms.Textarea({"rows": 3, "cols": 80, "class": "vLargeTextField"}),
        help_text=gettext_lazy(
            "In the words of the objectives that should find it: all of theirs must occur."
        ),
    )
    strategy = forms.CharField(
        label=gettext_lazy("Strategy"),
        strip=False,
        widget=forms.Textarea({"rows": 5, "cols": 80, "class": "vLargeTextField"}),
        help_text=gettext_lazy("What worked, as an agent should read it."),
    )
    confidence = forms.FloatField(
        label=gettext_lazy("Confidence"),
        initial=DEFAULT_CONFIDENCE,
        min_value=0,
        max_value=MAX_CONFIDENCE,
        widget=forms.TextInput({"inputmode": "decimal", "class": "as-number"}),
        help_text=gettext_lazy("From 0 to 3. It counts half after 90 days."),
    )
    id = forms.CharField(
        label=gettext_lazy("Id"),
        required=False,
        max_length=64,
        widget=forms.TextInput({"class": "vTextField"}),
        help_text=gettext_lazy("Letters, digits, - and _; made up for you if you leave it empty."),
    )
    teacher_model = forms.CharField(
        label=gettext_lazy("Taught by"),
        required=False,
        widget=forms.TextInput({"class": "vTextField"}),
        help_text=gettext_lazy("The model that taught it, if one did."),
    )

    def attach(self, error: errors.AgentStoreError) -> None:
        """Show a store's refusal at the fields that it is about."""
        found = error.errors if isinstance(error, errors.ValidationFailed) else {}
        for name, problems in found.items():
            self.add_error(name if name in self.fields else None, problems)
        if not found:
            self.add_error("id" if isinstance(error, errors.AlreadyExists) else None, words_of(error))


class AddingAdmin(ExportingAdmin):
    """The form for a new strategy."""

    add_form_template = "agentstore/admin/strategies/add.html"

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the form, or save what it says."""
        tenant = self.chosen(request)
        if tenant is None:
            return self.not_found(request, self.given_tenant(request))
        if tenant or not self.has_add_permission(request):
            self.require(request, "add", tenant)
        form = StrategyForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and not tenant:
            form.add_error(None, _("Choose a tenant."))
        elif request.method == "POST" and form.is_valid():
            saved = self._save(request, tenant, form)
            if saved is not None:
                return self._saved(request, tenant, saved)
        context = {
            "form": form,
            "bar": self.usage_bar(tenant) if tenant else None,
            "typed": self.tenants(request) is None,
            "prune_url": self.to("prune", tenant=tenant),
            "list_url": self.to("list", tenant=tenant),
        }
        return self.strategy_page(
            request, self.add_form_template, tenant, context, title=_("Add strategy"), current="list",
            step=_("Add"),
        )  # fmt: skip

    def _save(self, request: HttpRequest, tenant: str, form: StrategyForm) -> SaveResult | None:
        given = form.cleaned_data
        try:
            return self.store(request, tenant).save(
                problem=_unix(given["problem"]),
                strategy=_unix(given["strategy"]),
                confidence=given["confidence"],
                id=given["id"] or None,
                teacher_model=given["teacher_model"] or None,
            )
        except errors.AgentStoreError as error:
            form.attach(error)
        return None

    def _saved(self, request: HttpRequest, tenant: str, saved: SaveResult) -> HttpResponse:
        names = {"id": saved.id, "tenant": tenant_label(tenant), "count": f"{len(saved.evicted_ids):,}"}
        to = self.to("list", tenant=tenant)
        if saved.status == "not_kept":
            message = _("Not kept: it ranks below all that %(tenant)s has, and there is no room.") % names
            self.message_user(request, message, messages.WARNING)
            return HttpResponseRedirect(to)
        merged = saved.status == "merged"
        text = _("It is there already as %(id)s: the two were merged.") if merged else _("Added %(id)s.")
        if saved.evicted_ids:
            text = f"{text} {_('To make room, %(count)s with the lowest rank went.')}"
        objects = self.get_queryset(request).filter(tenant=tenant, strategy_id=saved.id).defer("terms")
        self.log(request, objects, CHANGE if merged else ADDITION, text % names)
        return self.done(request, text % names, to)


def _unix(text: str) -> str:
    """Return a text with the line ends that it had before a browser sent it."""
    return text.replace("\r\n", "\n")
