"""The page of a strategy; deleting one or several; adding one."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, DELETION
from django.utils import timezone

from agentstore.core import errors
from agentstore.signals import strategy_changed
from agentstore.strategies import StrategyStore
from agentstore.strategies.models import Strategy
from tests.browser import read_form, text_of
from tests.strategies.admin_pages import fill, get, log, messages_of, obj_of, post, rows_of, spoil, state, url

pytestmark = pytest.mark.django_db


def answer(page):
    """Return what the form of a question sends."""
    return read_form(page.split('id="content-main"')[1])


def ids(tenant="acme"):
    return [row.id for row in StrategyStore(tenant).list(limit=100)]


# --- the page of one -------------------------------------------------------------------------------


def test_the_page_of_a_strategy_shows_all_of_it_and_nothing_to_change(admin_client, tenant):
    store = fill(tenant, 3)
    store.save(
        problem="Straße\ngesperrt", strategy="Umweg", id="s4", teacher_model="big-model", signature="sig",
        ts=timezone.now(), confidence=3, origin="seeded",
    )  # fmt: skip

    page = get(admin_client, url("change", obj_of("s4").pk))

    words = text_of(page)
    for fact in ("Tenant acme", "Rank 1 of 4", "Score 3.000", "Confidence 3", "Origin seeded"):
        assert fact in words
    assert "Taught by big-model" in words and "Signature sig" in words
    assert "Straße\ngesperrt" in page and "Umweg" in words
    assert "Words it is found by strasse gesperrt" in words
    assert "Times are shown in Europe/Berlin." in words
    assert url("find", tenant=tenant, explain="s4").replace("&", "&amp;") in page
    assert read_form(page.split('id="content-main"')[1]) == {}


def test_a_strategy_that_no_objective_can_find_says_so(admin_client, tenant):
    StrategyStore(tenant).save(problem="the of", strategy="x", id="s1")

    assert "None: no objective finds it." in text_of(get(admin_client, url("change", obj_of("s1").pk)))


def test_of_very_many_words_the_first_are_shown(admin_client, tenant):
    StrategyStore(tenant).save(problem=" ".join(f"w{n}" for n in range(70)), strategy="x", id="s1")

    assert "w59 and 10 more" in text_of(get(admin_client, url("change", obj_of("s1").pk)))


def test_the_page_of_a_row_spoiled_by_hand_says_what_is_wrong(admin_client, tenant):
    fill(tenant, 1)
    spoil("s1", origin="stolen")

    page = text_of(get(admin_client, url("change", obj_of("s1").pk)))

    assert "changed around the store: origin: Expected earned or seeded, found 'stolen'." in page


@pytest.mark.parametrize("page", ["change", "delete"])
@pytest.mark.parametrize("key", ["019283aa-0000-7000-8000-000000000000", "x", "s1"])
def test_a_page_of_nothing_leads_home_with_a_word(admin_client, tenant, page, key):
    fill(tenant, 1)

    response = admin_client.get(url(page, key))

    assert (response.status_code, response["Location"]) == (302, "/admin/")
    assert "doesn’t exist" in messages_of(response)[-1]


# --- delete ----------------------------------------------------------------------------------------


def test_deleting_asks_first_then_deletes_with_log_reason_and_signal(
    admin_client, tenant, django_capture_on_commit_callbacks
):
    fill(tenant, 2)
    address, told = url("delete", obj_of("s2").pk), []

    def receiver(**signal):
        told.append((signal["id"], signal["op"], signal["actor"]))

    strategy_changed.connect(receiver)
    question = get(admin_client, address)
    assert ids() == ["s1", "s2"]
    with django_capture_on_commit_callbacks(execute=True):
        response = admin_client.post(address, {**answer(question), "reason": "old"})
    strategy_changed.disconnect(receiver)

    assert "Delete this strategy?" in question
    assert "Deleted strategies can’t be undeleted." in text_of(question)
    assert rows_of(question)[0].startswith("problem 2 way 2 2.98")
    assert response["Location"] == url("list", tenant=tenant)
    assert messages_of(response) == ["Deleted strategy s2 of acme."]
    assert ids() == ["s1"]
    assert log() == [(DELETION, "s2", "Deleted: “problem 2”. Reason: old")]
    assert told == [("s2", "deleted", "user:admin")]


def test_a_post_without_the_question_s_answer_asks(admin_client, tenant):
    fill(tenant, 1)

    assert "Delete this strategy?" in post(admin_client, url("delete", obj_of("s1").pk), {})
    assert ids() == ["s1"]


def test_ticked_strategies_are_deleted_after_a_question_one_log_entry_each(admin_client, tenant):
    fill(tenant, 4)
    ticked = {"action": "delete_selected", "_selected_action": [obj_of("s2").pk, obj_of("s3").pk]}

    question = post(admin_client, url("list", tenant=tenant), ticked)
    response = admin_client.post(url("list"), answer(question))

    assert "Delete 2 strategies?" in question
    assert [row.split(" way")[0] for row in rows_of(question)] == ["problem 2", "problem 3"]
    assert messages_of(response) == ["Deleted 2 strategies of acme."]
    assert ids() == ["s1", "s4"]
    assert [entry[:2] for entry in log()] == [(DELETION, "s2"), (DELETION, "s3")]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "No action selected."),
        ({"action": "something"}, "No action selected."),
        ({"action": "delete_selected"}, "Tick the strategies to delete first."),
        ({"action": "delete_selected", "_selected_action": ["x", "7"], "post": "yes"}, "Tick the strategies"),
    ],
    ids=["no action", "unknown action", "no tick", "no key"],
)
def test_an_action_without_a_choice_deletes_nothing(admin_client, tenant, values, message):
    fill(tenant, 1)

    response = admin_client.post(url("list", tenant=tenant), values)

    assert response["Location"] == url("list", tenant=tenant)
    assert message in messages_of(response)[0]
    assert ids() == ["s1"]


def test_what_somebody_else_deleted_meanwhile_is_no_error(admin_client, tenant, monkeypatch):
    fill(tenant, 1)
    real = StrategyStore.delete
    monkeypatch.setattr(StrategyStore, "delete", lambda self, id: real(self, id) and real(self, id))

    response = admin_client.post(url("delete", obj_of("s1").pk), {"post": "yes"})

    assert messages_of(response) == ["Nothing was deleted: it was gone already."]
    assert log() == []


def test_trouble_in_the_middle_keeps_and_tells_what_was_deleted(admin_client, tenant, monkeypatch):
    fill(tenant, 2)
    real = StrategyStore.delete

    def delete(self, id):
        if id == "s2":
            raise errors.StorageFailed(
                "The database did not carry out the operation.", hint="Try again later."
            )
        return real(self, id)

    monkeypatch.setattr(StrategyStore, "delete", delete)
    pks = [obj_of("s1").pk, obj_of("s2").pk]

    response = admin_client.post(
        url("list"), {"action": "delete_selected", "_selected_action": pks, "post": "yes"}
    )

    assert messages_of(response) == [
        "The database did not carry out the operation. Try again later.",
        "Deleted strategy s1 of acme.",
    ]
    assert [entry[1] for entry in log()] == ["s1"]


# --- add -------------------------------------------------------------------------------------------

FORM = {
    "tenant": "acme",
    "problem": "a\r\nproblem",
    "strategy": "s",
    "confidence": "2.5",
    "id": "",
    "teacher_model": "",
}


def test_a_strategy_is_added_through_the_store_with_a_log_entry(admin_client, tenant):
    form = read_form(get(admin_client, url("add", tenant=tenant)), "strategy_form")
    assert form["confidence"] == "2"

    response = admin_client.post(url("add"), {**form, **FORM, "id": "mine"})

    assert response["Location"] == url("list", tenant=tenant)
    assert messages_of(response) == ["Added mine."]
    row = StrategyStore(tenant).get("mine")
    assert (row.problem, row.confidence, row.origin, row.teacher_model) == ("a\nproblem", 2.5, "earned", None)
    assert log() == [(ADDITION, "mine", "Added mine.")]


def test_adding_what_is_there_merges_and_says_so(admin_client, tenant):
    StrategyStore(tenant).save(problem="A  problem", strategy="S", id="old", confidence=1)

    response = admin_client.post(url("add"), FORM)

    assert messages_of(response) == ["It is there already as old: the two were merged."]
    assert StrategyStore(tenant).get("old").confidence == 2.5
    assert [entry[0] for entry in log()] == [CHANGE]


def test_adding_to_a_full_tenant_says_what_went_or_that_it_was_not_kept(admin_client, settings, tenant):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "STRATEGY_CAPACITY": 2}
    fill(tenant, 2)

    low = admin_client.post(url("add"), {**FORM, "confidence": "0.5"})
    high = admin_client.post(url("add"), {**FORM, "confidence": "3", "id": "top"})

    assert messages_of(low)[0].startswith("Not kept: it ranks below all that acme has")
    assert messages_of(high)[-1] == "Added top. To make room, 1 with the lowest rank went."
    assert ids() == ["top", "s1"]
    assert len(log()) == 1


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"problem": ""}, "This field is required."),
        ({"problem": "  "}, "Blank."),
        ({"strategy": "x" * 5000}, "5,000 bytes; the limit is 4,096."),
        ({"confidence": "nan"}, "Enter a number."),
        ({"confidence": "3.5"}, "less than or equal to 3"),
        ({"id": "no id"}, "&#x27;no id&#x27; is no strategy id."),
        ({"id": "s1"}, "s1"),
        ({"teacher_model": "x" * 600}, "600 bytes; the limit is 512."),
    ],
    ids=lambda value: "".join(value) if isinstance(value, dict) else None,
)
def test_what_does_not_fit_is_told_at_its_field_and_nothing_is_saved(admin_client, tenant, values, told):
    fill(tenant, 1)
    before = state()

    page = post(admin_client, url("add"), {**FORM, **values})

    assert told in page.split('class="errorlist"')[1]
    assert "Nothing was saved." in page
    assert state() == before


def test_an_unexpected_refusal_is_told_above_the_form(admin_client, tenant, monkeypatch):
    def save(self, **fields):
        raise errors.StorageFailed("The database did not carry out the operation.")

    monkeypatch.setattr(StrategyStore, "save", save)

    assert "did not carry out" in post(admin_client, url("add"), FORM)


def test_adding_can_begin_a_tenant(admin_client):
    nobody = admin_client.post(url("add"), {**FORM, "tenant": ""})
    begun = admin_client.post(url("add"), {**FORM, "tenant": "", "other": " new one "})

    assert "Choose a tenant." in nobody.content.decode()
    assert begun["Location"] == url("list", tenant="new one")
    assert Strategy.objects.get().tenant == "new one"
