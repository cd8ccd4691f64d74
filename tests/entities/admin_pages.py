"""What the tests of the entities' admin share: addresses, staff with some permissions, a narrow access."""

from __future__ import annotations

import re

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.urls import reverse

from agentstore.core.access import Access
from tests.browser import read_form
from tests.testapp.models import Task


class OnlyAcme(Access):
    """Staff see the tenant ``acme`` alone."""

    def admin_tenants(self, user):
        return {"acme"}

    def label(self, tenant):
        return {"acme": "Acme & Sons"}.get(tenant, tenant)


class NoWrites(OnlyAcme):
    """Staff may look at ``acme``, whatever their model permissions say."""

    def allows(self, user, tenant, capability, action):
        assert capability == "entities.tasks"
        return action == "view"


def access(settings, cls):
    """Let ``cls`` be the access class."""
    settings.AGENTSTORE = {**settings.AGENTSTORE, "ACCESS": f"{cls.__module__}.{cls.__name__}"}


def url(name, *args, model=Task):
    """Return the address of an admin page of an entity."""
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}", args=args)


def grant(user, *actions, model=Task):
    """Give a member of staff model permissions."""
    kind = ContentType.objects.get_for_model(model)
    names = [f"{action}_{model._meta.model_name}" for action in actions]
    user.user_permissions.add(*Permission.objects.filter(content_type=kind, codename__in=names))
    return user


def opened(client, row, **texts):
    """Open the form of a row and return what a browser would post, with some inputs filled in anew."""
    page = client.get(url("change", row.id)).content.decode()
    return {**read_form(page, "task_form"), **{f"data.{name}": text for name, text in texts.items()}}


def save(client, row, posted, button="_save"):
    """Press a button of the form."""
    return client.post(url("change", row.id), {**posted, button: "x"})


def messages_of(response):
    """Return the messages that a response leads to."""
    return [str(message) for message in response.wsgi_request._messages]


def listed(client, model=Task, **query):
    """Return (the list's page, the names of its rows in order)."""
    response = client.get(url("changelist", model=model), query)
    assert response.status_code == 200, response
    page = response.content.decode()
    rows = re.findall(r'<th class="field-\w+"><a[^>]*>(.*?)</a></th>', page)
    return page, rows


def names(client, **query):
    """Return the names of a list's rows."""
    return set(listed(client, **query)[1])
