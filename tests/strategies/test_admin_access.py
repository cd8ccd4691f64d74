"""Who sees and does what in the strategies' admin; and that nothing stored is ever markup."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from agentstore.admin import register_missing
from agentstore.core.access import Access
from agentstore.strategies import StrategyStore
from agentstore.strategies.admin import IncidentAdmin, StrategyAdmin
from agentstore.strategies.incidents import report
from agentstore.strategies.models import Incident, Strategy
from agentstore.strategies.values import Incident as Report
from tests.browser import read_form
from tests.strategies.admin_pages import (
    EVIL,
    NoWrites,
    OnlyAcme,
    access,
    fill,
    get,
    inert,
    log,
    messages_of,
    obj_of,
    post,
    sign_in,
    state,
    url,
)

SEED = [{"problem": "a new one", "strategy": "x", "id": "seeded"}]
#: What each act takes beside looking.
NEEDS = {"delete": "delete", "delete selected": "delete", "prune": "prune", "seed": "seed", "add": "add"}
ACTS = [*NEEDS, "find"]
ALL = {"view", "change", "add", "delete", "prune", "seed", "find"}


@pytest.fixture
def stored(db, tenant):
    """Three strategies of the tenant and an incident."""
    store = fill(tenant, 3)
    report("default", tenant, Report(op="find", error="Nothing was found."))
    return store


class Careless(Access):
    """Names, beside a tenant, what can be none."""

    def admin_tenants(self, user):
        return {"acme", "", " padded "}


def addresses(tenant="acme", id="s3"):
    """Return the address of every page."""
    obj = Strategy.objects.filter(tenant=tenant, strategy_id=id).first()
    pk = obj.pk if obj else "019283aa-0000-7000-8000-000000000000"
    names = {name: url(name, tenant=tenant) for name in ("list", "find", "prune", "seed", "export", "add")}
    own = {name: url(name, pk) for name in ("change", "delete", "history")}
    return {**names, **own, "incidents": url("incidents", tenant=tenant)}


@pytest.mark.django_db
def test_every_address_of_the_admin_is_among_the_pages():
    """What the tests below say of all pages, they say of all that there are."""
    patterns = admin.site.get_model_admin(Strategy).get_urls()
    names = {pattern.name.removeprefix("agentstore_strategy_") for pattern in patterns if pattern.name}

    assert names - {"changelist"} | {"list", "incidents"} == addresses().keys()


def acts(client, tenant="acme", id="s3"):
    """Return address and form of every act, the previews already looked at where ``client`` may."""
    pk = addresses(tenant, id)["delete"].split("/")[-3]
    pruned = read_form(client.get(url("prune", tenant=tenant, size=1)).content.decode(), "prune_form")
    checked = client.post(url("seed"), {"tenant": tenant, "text": json.dumps(SEED)}).content.decode()
    return {
        "delete": (url("delete", pk), {"post": "yes"}),
        "delete selected": (
            url("list"),
            {"action": "delete_selected", "_selected_action": [pk], "post": "yes"},
        ),
        "prune": (url("prune"), {"tenant": tenant, "size": "1", "seen": "x", **pruned}),
        "seed": (url("seed"), {"tenant": tenant, "_write": "x", **read_form(checked, "write_form")}),
        "add": (url("add"), {"tenant": tenant, "problem": "p", "strategy": "s", "confidence": "2"}),
        "find": (url("find"), {"tenant": tenant, "objective": "problem", "limit": "3"}),
    }


def test_view_permission_alone_shows_and_changes_nothing_by_any_address(client, admin_client, staff, stored):
    forms = acts(admin_client)
    sign_in(client, staff, "view", incidents=True)
    before = state()

    answers = {name: client.post(*forms[name]).status_code for name in ACTS}
    everything = {
        (kind, name): client.post(address, {"post": "yes", "_save": "x", "problem": "mine"}).status_code
        for kind, pages in (("any", addresses()),)
        for name, address in pages.items()
    }
    incident = reverse("admin:agentstore_incident_change", args=[Incident.objects.get().pk])
    others = [incident, incident.replace("change", "delete"), reverse("admin:agentstore_incident_add")]
    refused = [client.post(address, {"post": "yes"}).status_code for address in others]

    assert state() == before
    assert not LogEntry.objects.exists()
    assert answers == dict.fromkeys(ACTS, 403)
    assert everything["any", "change"] == 403
    assert refused == [403, 403, 403]


def test_view_permission_alone_reads_every_page_and_has_no_buttons(client, staff, stored):
    sign_in(client, staff, "view")

    pages = {
        name: get(client, address)
        for name, address in addresses().items()
        if name not in ("export", "add", "delete", "incidents")
    }
    preview = get(client, url("prune", tenant="acme", size=1))

    assert 'name="action"' not in pages["list"] and "_selected_action" not in pages["list"]
    assert "Add strategy" not in pages["list"]
    assert "Delete…" not in pages["change"]
    assert 'value="Find"' not in pages["find"] and "takes the permission" in pages["find"]
    assert "prune_form" not in preview and "takes the permission" in preview
    assert "seed_form" not in pages["seed"]
    assert "Incidents (" not in pages["list"]


@pytest.mark.parametrize("act", NEEDS)
def test_every_act_takes_its_own_permission_on_the_post(client, admin_client, staff, stored, act):
    address, values = acts(admin_client)[act]
    before = state()

    sign_in(client, staff, *(ALL - {NEEDS[act]}))
    assert client.post(address, values).status_code == 403
    assert state() == before
    staff.user_permissions.clear()
    sign_in(client, staff, NEEDS[act])
    if act != "add":  # who may only act may not look, and who may not look may not act
        assert client.post(address, values).status_code in (302, 403)
        assert state() == before
    sign_in(client, staff, NEEDS[act], "view")

    assert client.post(address, values).status_code == 302
    assert state() != before
    assert len(log()) == 1


def test_find_takes_its_own_permission_and_is_no_change(client, admin_client, staff, stored):
    address, values = acts(admin_client)["find"]
    before = state()

    sign_in(client, staff, *(ALL - {"find"}))
    assert client.post(address, values).status_code == 403
    sign_in(client, staff, "find")

    assert "Would be injected" in post(client, address, values)
    assert state() == before
    assert log() == []


@pytest.mark.parametrize("act", ACTS)
def test_the_access_class_is_asked_about_every_act(admin_client, settings, stored, act):
    forms = acts(admin_client)
    access(settings, NoWrites)
    before = state()

    assert admin_client.post(*forms[act]).status_code == 403
    assert state() == before


def told(response):
    """Return status, page and last message of an answer, without the name that was asked for."""
    (*_others, message) = messages_of(response)
    return response.status_code, response["Location"].split("?")[0], re.sub(r"“.*”", "", message)


@pytest.mark.parametrize("method", ["get", "post"])
def test_another_tenant_is_answered_as_one_that_never_was(admin_client, settings, stored, method):
    fill("globex", 3)
    forms = acts(admin_client, "globex"), acts(admin_client, "nobody", "none")
    access(settings, OnlyAcme)
    before = state()

    answers = {}
    for name in [*addresses(), *ACTS]:
        pair = []
        for tenant, id, own in (("globex", "s3", forms[0]), ("nobody", "none", forms[1])):
            address = own[name][0] if method == "post" and name in own else addresses(tenant, id).get(name)
            values = own[name][1] if method == "post" and name in own else {"tenant": tenant, "post": "yes"}
            if address is not None:
                pair.append(getattr(admin_client, method)(address, values))
        answers[name] = {told(each) for each in pair}

    assert {name: len(same) for name, same in answers.items() if len(same) > 1} == {}
    assert {status for same in answers.values() for status, *_rest in same} == {302}
    assert state() == before


def test_nobody_without_permission_sees_a_page(client, staff, stored):
    client.force_login(staff)

    answers = {name: client.get(address).status_code for name, address in addresses().items()}

    assert set(answers.values()) <= {302, 403}
    assert answers["list"] == answers["incidents"] == answers["add"] == 403


def test_who_is_not_staff_is_asked_to_log_in(client, user, stored):
    client.force_login(user)

    for address in addresses().values():
        assert "/login/" in client.get(address)["Location"]


def test_looking_changes_nothing(admin_client, stored):
    Strategy._base_manager.filter(strategy_id="s1").update(confidence=7.0)
    before = state()

    for address in addresses().values():
        assert admin_client.get(address).status_code == 200
    get(admin_client, url("prune", tenant="acme", size=0))
    for name in ("delete", "seed", "prune", "list"):
        assert admin_client.post(addresses()[name], {}).status_code in (200, 302)

    assert state() == before
    assert not LogEntry.objects.exists()


def test_a_form_from_elsewhere_is_refused(admin_user, stored):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(admin_user)
    before = state()

    for name in ("delete", "prune", "seed", "list", "add", "find"):
        assert strict.post(addresses()[name], {"post": "yes"}).status_code == 403
    assert state() == before


def test_a_host_s_own_registration_wins():
    class Own(StrategyAdmin):
        pass

    site = admin.AdminSite()
    site.register(Strategy, Own)
    register_missing(site)

    assert type(site.get_model_admin(Strategy)) is Own
    assert type(site.get_model_admin(Incident)) is IncidentAdmin


def test_without_an_admin_of_incidents_no_page_leads_there(admin_client, stored, monkeypatch):
    registered = admin.site.is_registered
    monkeypatch.setattr(
        admin.site, "is_registered", lambda model: model is not Incident and registered(model)
    )

    for name in ("list", "find", "prune", "seed"):
        assert "Incidents (" not in get(admin_client, addresses()[name])


def test_an_access_class_that_names_what_is_no_tenant_breaks_nothing(admin_client, settings, stored):
    access(settings, Careless)

    page = get(admin_client, url("list"))

    assert '<option value="acme" selected>' in page
    assert "padded" not in page


def test_what_was_done_to_a_strategy_stands_in_its_history(admin_client, stored):
    posted = {"tenant": "acme", "problem": "p", "strategy": "s", "confidence": "2", "id": "mine"}
    admin_client.post(url("add"), posted)

    assert "Added mine." in get(admin_client, url("history", obj_of("mine").pk))


# --- nothing stored is markup --------------------------------------------------------------------


@pytest.fixture
def evil(db):
    """A tenant whose name, problems, strategies, models and incidents are markup."""
    tenant = f"t {EVIL}"
    store = StrategyStore(tenant)
    for number in range(3):
        store.save(
            problem=f"{EVIL} {number}", strategy=EVIL, id=f"e{number}", teacher_model=EVIL, signature=EVIL
        )
    Strategy._base_manager.filter(strategy_id="e2").update(origin="<b>'x\"")
    report("default", tenant, Report(op="parse", error=EVIL, id="<i>'x\""))
    return tenant


def test_markup_is_inert_on_every_page(admin_client, evil):
    for name, address in addresses(evil, "e1").items():
        if name not in ("export", "history"):
            assert inert(get(admin_client, address)), name
    for size in (0, 1):
        page = get(admin_client, url("prune", tenant=evil, size=size))
        assert inert(page)
        assert "&lt;script&gt;" in page
    assert inert(get(admin_client, url("change", obj_of("e2", evil).pk)))
    assert inert(get(admin_client, url("list", tenant=evil, q=EVIL)))
    assert inert(get(admin_client, url("find", tenant=evil, explain=EVIL)))
    assert inert(get(admin_client, url("prune", tenant=evil, size=EVIL)))
    assert inert(get(admin_client, url("incidents", q=EVIL, kind=EVIL)))


def test_markup_is_inert_in_answers_and_messages_too(admin_client, evil):
    entries = [{"problem": EVIL, "strategy": EVIL, "id": EVIL, EVIL: 1}, {"problem": "p", "strategy": EVIL}]
    posts = [
        (url("find"), {"objective": f"{EVIL} 1", "limit": "9", "explain": "e1"}),
        (url("find"), {"objective": f"{EVIL} other", "limit": EVIL, "explain": EVIL}),
        (url("find"), {"objective": f"{EVIL} other", "limit": "1", "explain": EVIL}),
        (url("seed"), {"text": json.dumps(entries)}),
        (url("seed"), {"text": json.dumps(entries[1:])}),
        (url("seed"), {"text": EVIL}),
        (url("prune"), {"size": "1", "seen": EVIL, "shown": EVIL, "reason": EVIL}),
        (url("prune"), {"size": "0", "seen": EVIL, "name": EVIL}),
        (url("list"), {"action": "delete_selected", "_selected_action": [obj_of("e0", evil).pk]}),
        (url("add"), {"problem": EVIL, "strategy": "", "confidence": EVIL, "id": EVIL}),
    ]
    for address, values in posts:
        response = admin_client.post(address, {"tenant": evil, **values})
        assert response.status_code in (200, 409), (address, values)
        assert inert(response.content.decode())

    for address, values in [
        (url("add"), {"tenant": evil, "problem": EVIL, "strategy": EVIL + "9", "confidence": "2"}),
        (url("delete", obj_of("e0", evil).pk), {"post": "yes", "reason": EVIL}),
    ]:
        response = admin_client.post(address, values, follow=True)
        assert response.redirect_chain
        assert inert(response.content.decode())
