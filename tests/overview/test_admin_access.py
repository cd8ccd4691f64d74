"""Who sees what on the overview: only tenants and kinds that the user may view elsewhere."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import reverse

from agentstore.core.access import Access
from agentstore.files import FileStore
from agentstore.files.models import AgentFile
from agentstore.overview.models import Overview
from agentstore.strategies.models import Incident, Strategy
from tests.browser import text_of
from tests.entities.admin_pages import OnlyAcme, access, grant
from tests.overview.pages import cards_of, get, rows_of, url
from tests.testapp.models import Task

pytestmark = pytest.mark.django_db


class NoFilesOfAcme(Access):
    """What ``acme`` keeps in files is nobody's business."""

    def allows(self, user, tenant, capability, action):
        return not (tenant == "acme" and capability == "files")


class NothingOfGlobex(OnlyAcme):
    """Staff is shown both tenants, and may view nothing of one."""

    def admin_tenants(self, user):
        return {"acme", "globex"}

    def allows(self, user, tenant, capability, action):
        return tenant == "acme"


def sign_in(client, staff, *models):
    """Sign a member of staff in who may view some models."""
    for model in models:
        grant(staff, "view", model=model)
    client.force_login(type(staff).objects.get(pk=staff.pk))
    return client


def test_strangers_are_led_to_the_login(client, stored):
    assert client.get(url()).url.startswith(reverse("admin:login"))


def test_who_may_view_nothing_is_refused_and_not_led_there(client, staff, stored):
    sign_in(client, staff)

    assert client.get(url()).status_code == 403
    assert url() not in client.get(reverse("admin:index")).content.decode()


@pytest.mark.parametrize(
    ("model", "lines", "words"),
    [
        (Task, {"Tasks"}, {"task"}),
        (Strategy, {"Strategies"}, {"strategy"}),
        (AgentFile, {"Files"}, {"file"}),
    ],
    ids=["entity", "strategies", "files"],
)
def test_only_kinds_that_the_user_may_view_are_shown(client, staff, stored, model, lines, words):
    page = get(sign_in(client, staff, model))

    assert {line for card in cards_of(page).values() for line in card} == lines
    assert {row[2] for row in rows_of(page, "Recent changes")} == words
    assert "Incidents</h2>" not in page
    assert "incident" not in text_of(page.split('<div id="content-main">')[1])
    assert url() in client.get(reverse("admin:index")).content.decode()


def test_incidents_alone_may_be_viewed_too(client, staff, stored):
    page = get(sign_in(client, staff, Incident))

    assert len(rows_of(page, "Incidents")) == 2
    assert "Tenants</h2>" not in page
    assert "Open the row" not in page


def test_only_tenants_that_the_access_class_names_are_shown(admin_client, settings, stored):
    access(settings, OnlyAcme)

    page = get(admin_client)

    assert list(cards_of(page)) == ["Acme & Sons"]
    assert {row[1] for row in rows_of(page, "Recent changes")} == {"Acme & Sons"}
    assert {row[2] for row in rows_of(page, "Incidents")} == {"Acme & Sons"}
    assert "globex" not in page


def test_another_tenant_is_no_other_than_one_that_never_was(admin_client, settings, stored):
    access(settings, OnlyAcme)

    hidden, missing = (text_of(get(admin_client, tenant=name)) for name in ("globex", "nobody"))

    assert "No tenant fits. Show all tenants." in hidden
    assert hidden == missing


@pytest.mark.parametrize("query", [{}, {"tenant": "acme"}], ids=str)
def test_a_kind_is_hidden_where_the_access_class_hides_it(admin_client, settings, stored, query):
    access(settings, NoFilesOfAcme)
    FileStore("globex", "ada").write("a.md", "x")

    page = get(admin_client, **query)

    assert "Files" not in cards_of(page)["acme"]
    assert "SOUL.md" not in page
    assert ("ada: a.md" in page) is ("tenant" not in query)


def test_a_tenant_of_which_nothing_may_be_viewed_has_no_card(admin_client, settings, stored):
    access(settings, NothingOfGlobex)

    page = get(admin_client)

    assert list(cards_of(page)) == ["Acme & Sons"]
    assert "globex" not in page


def test_kinds_that_the_site_has_no_pages_of_are_left_out(admin_client, stored, monkeypatch):
    registered = admin.site.is_registered
    gone = (Strategy, AgentFile, Incident)
    monkeypatch.setattr(
        admin.site, "is_registered", lambda model: model not in gone and registered(model)
    )  # fmt: skip

    page = get(admin_client)

    assert not {"Strategies", "Files"} & set(cards_of(page)["acme"])
    assert {row[2] for row in rows_of(page, "Recent changes")} == {"task", "small"}
    assert "Incidents</h2>" not in page


def test_pages_that_a_hosts_own_admin_has_not_are_no_links(admin_client, stored, monkeypatch):
    from agentstore.overview.admin import kinds

    real = kinds.reverse

    def without_files(name, **rest):
        if "agentfile" in name:
            raise kinds.NoReverseMatch(name)
        return real(name, **rest)

    monkeypatch.setattr(kinds, "reverse", without_files)

    page = get(admin_client)

    assert re.search(r'<th scope="row">\s*Files\s*</th>', page)
    assert "bia: SOUL.md, version 1" in [row[3] for row in rows_of(page, "Recent changes")]


def test_the_page_is_no_model_of_the_project():
    """Else there would be something to migrate, to dump and to erase."""
    assert Overview not in apps.get_models()
    assert Overview._meta.db_table == "agentstore_usage"
