"""What a host's own admin classes may set: filters, a date hierarchy; and forms that refer to rows."""

from __future__ import annotations

import html
import json
import re

import pytest
from django.contrib import admin
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.db import models
from django.test.utils import isolate_apps
from django.urls import ResolverMatch
from django.utils import timezone

from agentstore.admin import EntityAdmin
from tests.browser import read_form
from tests.entities.admin_pages import OnlyAcme, access, url
from tests.testapp.models import Task


class NewFilter(admin.SimpleListFilter):
    title = "news"
    parameter_name = "news"

    def lookups(self, request, model_admin):
        return [("yes", "new")]

    def queryset(self, request, queryset):
        return queryset.filter(version=1) if self.value() else queryset


class HostAdmin(EntityAdmin):
    list_filter = [NewFilter, "created_at", "version"]
    date_hierarchy = "updated_at"


@pytest.fixture
def store(db, tenant):
    return Task.store(tenant)


@pytest.fixture
def shown(rf, admin_user, store):
    """Return a function that shows the host's list: (the response, the names of its rows, its page)."""
    store.create({"text": "fresh"})
    old = store.create({"text": "old"})
    store.update(old.id, {"done": True})

    def show(query=""):
        request = rf.get(f"{url('changelist')}{query}")
        request.user = admin_user
        response = HostAdmin(Task, admin.site).changelist_view(request)
        if response.status_code == 302:
            return response, set(), ""
        page = response.render().content.decode()
        return response, set(re.findall(r'<th class="field-\w+"><a[^>]*>(.*?)</a></th>', page)), page

    return show


def links(page, word):
    """Return the query strings of links that hold ``word``."""
    return [html.unescape(link) for link in re.findall(r'href="(\?[^"]*)"', page) if word in link]


# --- a host's own filters -----------------------------------------------------------------------


@pytest.mark.parametrize("query", ["?news=yes", "?version=1", "?news=yes&version=1", "?news=yes&q=fre"])
def test_a_hosts_own_filters_filter(shown, query):
    assert shown(query)[1] == {"fresh"}


def test_every_link_of_a_hosts_own_filters_leads_somewhere(shown):
    found = links(shown()[2], "_at__")

    assert len(found) > 4
    for query in found:
        assert shown(query)[1] == {"fresh", "old"}, query


def test_any_date_leads_back_from_a_chosen_one(shown):
    chosen = next(link for link in links(shown()[2], "created_at__gte"))

    assert re.search(r'href="\?"[^>]*>\s*Any date<', shown(chosen)[2])


def test_a_hosts_date_hierarchy_goes_down_to_the_day(shown):
    today = timezone.localdate()

    assert shown(f"?updated_at__year={today.year}&updated_at__month={today.month}")[1] == {"fresh", "old"}
    assert shown(f"?updated_at__year={today.year - 1}")[1] == set()


@pytest.mark.parametrize("query", ["?data__text=old", "?id__gt=0", "?tenant__startswith=a", "?nope=1"])
def test_what_no_filter_reads_is_still_refused(shown, query):
    response = shown(query)[0]

    assert (response.status_code, response["Location"]) == (302, f"{url('changelist')}?e=1")


@pytest.mark.parametrize(("chosen", "found"), [("acme", {"fresh", "old"}), ("globex", set())])
def test_a_tenant_may_be_named_where_the_host_has_no_filter_for_it(shown, chosen, found):
    assert shown(f"?tenant={chosen}")[1] == found


def test_a_tenant_that_can_be_none_is_refused(shown):
    assert shown("?tenant=%00")[0].status_code == 302


# --- rows in other models' forms ------------------------------------------------------------------


@isolate_apps("tests.testapp")
def test_another_admin_may_complete_rows():
    class Note(models.Model):
        task = models.ForeignKey(Task, models.CASCADE, related_name="+")

        class Meta:
            app_label = "testapp"

    class NoteAdmin(admin.ModelAdmin):
        autocomplete_fields = ["task"]

    assert NoteAdmin(Note, admin.site).check() == []


@pytest.fixture
def completed(rf, admin_user):
    """Return a function that gives what is offered for what somebody typed."""

    class View(AutocompleteJsonView):
        def process_request(self, request):
            source = models.ForeignKey(Task, models.CASCADE)
            return request.GET["term"], admin.site.get_model_admin(Task), source, "id"

    def complete(term):
        request = rf.get("/admin/autocomplete/", {"term": term})
        request.user = admin_user
        request.resolver_match = ResolverMatch(None, (), {}, url_name="autocomplete")
        answer = json.loads(View.as_view(admin_site=admin.site)(request).content)
        return [found["text"] for found in answer["results"]]

    return complete


def test_live_rows_are_offered_last_updated_first(store, completed):
    rows = [store.create({"text": text}) for text in ("call Ann", "call Bob", "write Cy", "call Dee")]
    store.delete(rows[3].id)

    assert completed("call") == ["call Bob", "call Ann"]
    assert completed("") == ["write Cy", "call Bob", "call Ann"]


def test_rows_of_other_tenants_are_not_offered(store, completed, settings):
    access(settings, OnlyAcme)
    store.create({"text": "ours"})
    Task.store("globex").create({"text": "theirs"})

    assert completed("") == ["ours"]


# --- popups ---------------------------------------------------------------------------------------

POPUP = "?_popup=1&_to_field=id"


def told(response):
    """Return what a closing popup tells the form that opened it."""
    found = re.search(r'data-popup-response="(.*?)"', response.content.decode())
    return json.loads(html.unescape(found[1]))


def test_a_row_added_in_a_popup_goes_to_the_form_that_opened_it(admin_client, store):
    form = read_form(admin_client.get(url("add") + POPUP).content.decode(), "task_form")

    response = admin_client.post(url("add") + POPUP, {**form, "tenant": "acme", "data.text": "new"})

    [row] = store.query()
    assert told(response) == {"value": str(row.id), "obj": "new"}


def test_a_row_changed_in_a_popup_goes_to_the_form_that_opened_it(admin_client, store):
    row = store.create({"text": "old"})
    form = read_form(admin_client.get(url("change", row.id) + POPUP).content.decode(), "task_form")

    response = admin_client.post(url("change", row.id), {**form, "data.text": "new"})

    assert store.get(row.id).data.text == "new"
    assert told(response) == {
        "action": "change",
        "value": str(row.id),
        "obj": "new",
        "new_value": str(row.id),
    }


def test_a_popup_closes_too_where_nothing_was_changed(admin_client, store):
    row = store.create({"text": "old"})
    form = read_form(admin_client.get(url("change", row.id) + POPUP).content.decode(), "task_form")

    assert told(admin_client.post(url("change", row.id), form))["obj"] == "old"


def test_a_row_deleted_in_a_popup_leaves_the_form_that_opened_it(admin_client, store):
    row = store.create({"text": "old"})
    page = admin_client.get(url("delete", row.id) + POPUP).content.decode()

    response = admin_client.post(url("delete", row.id), {"_popup": "1", "version": "1"})

    assert 'name="_popup" value="1"' in page
    assert told(response) == {"action": "delete", "value": str(row.id)}
    assert store.get(row.id) is None


def test_a_popup_shows_nothing_that_leads_away(admin_client, store):
    row = store.create({"text": "old"})

    for address in (url("add"), url("change", row.id), url("delete", row.id), url("changelist")):
        page = admin_client.get(address + POPUP).content.decode()
        assert not re.search(r'id="header"|class="breadcrumbs"|as-tabs|_addanother|cancel-link|Delete…', page)


def test_a_stale_save_stays_in_its_popup(admin_client, store):
    row = store.create({"text": "old"})
    form = read_form(admin_client.get(url("change", row.id) + POPUP).content.decode(), "task_form")
    store.update(row.id, {"text": "theirs"})

    response = admin_client.post(url("change", row.id) + POPUP, {**form, "data.text": "mine"})

    assert response.status_code == 409
    assert read_form(response.content.decode(), "task_form")["_popup"] == "1"


@pytest.mark.parametrize("field", ["tenant", "nope"])
def test_a_popup_for_a_field_that_nothing_refers_to_is_refused(admin_client, store, field):
    row = store.create({"text": "old"})

    response = admin_client.post(url("change", row.id), {"_popup": "1", "_to_field": field, "version": "1"})

    assert response.status_code == 400


def test_clearing_the_filters_of_a_popup_stays_in_it(admin_client, store):
    page = admin_client.get(url("changelist") + "?_popup=1&done=yes").content.decode()

    assert 'href="?_popup=1&amp;">Clear all filters' in page
