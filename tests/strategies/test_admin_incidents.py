"""The list of incidents: what it shows, its filters, and that nothing there changes anything."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agentstore.core.values import clock_at
from agentstore.strategies.incidents import report
from agentstore.strategies.models import Incident
from agentstore.strategies.values import Incident as Report
from tests.browser import text_of
from tests.strategies.admin_pages import (
    OnlyAcme,
    access,
    fill,
    get,
    messages_of,
    obj_of,
    rows_of,
    sign_in,
    state,
    url,
)

pytestmark = pytest.mark.django_db
FIRST, LAST = datetime(2026, 11, 29, 9, tzinfo=UTC), datetime(2026, 11, 30, 13, 5, tzinfo=UTC)


def happen(tenant, op, id="", at=FIRST, error="It broke."):
    with clock_at(at):
        report("default", tenant, Report(op=op, error=error, id=id))


@pytest.fixture
def trouble(tenant, other_tenant):
    """Incidents of every kind, of two tenants; one happened twice."""
    fill(tenant, 1)
    happen(tenant, "find", at=FIRST)
    happen(tenant, "find", at=LAST, error="It broke again.")
    happen(tenant, "parse", "s1", error="Skipped: confidence.")
    happen(tenant, "save", "gone", at=FIRST.replace(hour=8))
    happen(other_tenant, "evict", "s9", at=FIRST.replace(hour=7))


def test_incidents_stand_latest_first_with_kind_count_and_times(admin_client, trouble):
    rows = rows_of(get(admin_client, url("incidents")))

    assert rows == [
        "find failed It broke again. – acme 2 29 Nov 2026, 10:00 30 Nov 2026, 14:05",
        "skipped Skipped: confidence. s1 acme 1 29 Nov 2026, 10:00 29 Nov 2026, 10:00",
        "save failed It broke. gone acme 1 29 Nov 2026, 09:00 29 Nov 2026, 09:00",
        "no room made It broke. s9 globex 1 29 Nov 2026, 08:00 29 Nov 2026, 08:00",
    ]


def test_the_page_says_what_the_kinds_mean_and_names_the_zone_once(admin_client, trouble):
    words = text_of(get(admin_client, url("incidents")))

    assert "skipped A stored strategy can’t be read, so find leaves it out." in words
    assert words.count("Times are shown in Europe/Berlin.") == 1


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ({"tenant": "acme"}, ["find", "skipped", "save"]),
        ({"kind": "parse"}, ["skipped"]),
        ({"kind": "nothing"}, ["find", "skipped", "save", "no"]),
        ({"q": "gone"}, ["save"]),
        ({"tenant": "globex", "kind": "evict", "q": " s9 "}, ["no"]),
    ],
    ids=str,
)
def test_the_list_is_narrowed_by_tenant_kind_and_strategy(admin_client, trouble, query, kinds):
    page = get(admin_client, url("incidents", **query))

    assert [row.split()[0] for row in rows_of(page)] == kinds
    assert ("globex" in rows_of(page)[-1]) is ("tenant" not in query and "no" in kinds)


def test_an_incident_leads_to_its_strategy_where_that_is_stored(admin_client, trouble):
    page = get(admin_client, url("incidents"))

    assert url("change", obj_of("s1").pk) in page
    assert page.count("/change/") == page.count(f"{obj_of('s1').pk}/change/")


def test_no_incidents_are_told_with_or_without_filters(admin_client, tenant):
    assert "No incidents." in get(admin_client, url("incidents"))
    page = get(admin_client, url("incidents", kind="find"))
    assert "No incident fits these filters. Clear all filters." in text_of(page)


def test_the_tab_counts_the_incidents_of_the_tenant(admin_client, trouble):
    assert "Incidents (3)" in get(admin_client, url("list", tenant="acme"))
    assert "Incidents (1)" in get(admin_client, url("find", tenant="globex"))
    assert "Incidents (4)" in get(admin_client, url("incidents"))


def test_only_the_tenants_of_the_access_class_are_shown_and_counted(admin_client, settings, trouble):
    access(settings, OnlyAcme)

    page = get(admin_client, url("incidents"))

    assert len(rows_of(page)) == 3
    assert "globex" not in page
    assert "Incidents (3)" in page


def test_the_permission_for_incidents_is_one_of_its_own(client, staff, trouble):
    sign_in(client, staff, "view")
    assert client.get(url("incidents")).status_code == 403
    assert "Incidents (" not in get(client, url("list"))

    staff.user_permissions.clear()
    sign_in(client, staff, incidents=True)

    page = get(client, url("incidents"))
    assert len(rows_of(page)) == 4
    assert url("find") not in page and "/change/" not in page
    assert client.get(url("list")).status_code == 403


def test_an_incident_s_own_address_leads_to_it_in_the_list(admin_client, trouble):
    incident = Incident.objects.get(op="save")

    response = admin_client.get(reverse("admin:agentstore_incident_change", args=[incident.pk]))

    assert response["Location"] == url("incidents", tenant="acme", kind="save", q="gone")
    assert len(rows_of(get(admin_client, response["Location"]))) == 1


def test_nothing_of_incidents_can_be_changed_even_by_a_superuser(admin_client, trouble):
    incident = Incident.objects.get(op="save")
    change = reverse("admin:agentstore_incident_change", args=[incident.pk])
    before = state()

    answers = [
        admin_client.post(change, {"error": "mine"}).status_code,
        admin_client.post(change.replace("/change/", "/delete/"), {"post": "yes"}).status_code,
        admin_client.post(reverse("admin:agentstore_incident_add"), {"error": "mine"}).status_code,
        admin_client.post(
            url("incidents"),
            {"action": "delete_selected", "_selected_action": [incident.pk], "post": "yes"},
        ).status_code,
    ]

    assert answers == [403] * 4
    assert state() == before


def test_an_incident_that_is_not_there_leads_home_with_a_word(admin_client):
    never = "019283aa-0000-7000-8000-000000000000"

    response = admin_client.get(reverse("admin:agentstore_incident_change", args=[never]))

    assert response["Location"] == "/admin/"
    assert "doesn’t exist" in messages_of(response)[0]


def test_the_list_has_pages_and_its_queries_do_not_grow(admin_client, tenant):
    def count():
        with CaptureQueriesContext(connection) as captured:
            get(admin_client, url("incidents"))
        return len(captured)

    fill(tenant, 2)
    happen(tenant, "save", "s1")
    few = count()
    for number in range(60):
        happen(tenant, "save", f"n{number}")

    assert count() == few
    assert len(rows_of(get(admin_client, url("incidents", p=2)))) == 11
    assert "61 incidents" in text_of(get(admin_client, url("incidents")))


def test_an_unknown_kind_is_shown_as_it_is(admin_client, trouble):
    Incident._base_manager.filter(op="save").update(op="<other>")

    assert "&lt;other&gt;" in get(admin_client, url("incidents"))
