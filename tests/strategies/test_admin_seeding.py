"""Seed upload: every problem first, nothing written before the second step, and what happens in between."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.contrib.admin.models import ADDITION
from django.core.files.uploadedfile import SimpleUploadedFile

from agentstore.core import errors
from agentstore.strategies import StrategyStore
from agentstore.strategies.admin import seeding
from tests.browser import buttons, read_form, text_of
from tests.strategies.admin_pages import (
    OnlyAcme,
    access,
    fill,
    get,
    log,
    messages_of,
    post,
    rows_of,
    state,
    url,
)

pytestmark = pytest.mark.django_db
GOOD = [
    {
        "problem": "Visa form asks for a date",
        "strategy": "Use the passport's",
        "id": "visa-1",
        "confidence": 2.5,
    },
    {"problem": "客户要求更改地址", "strategy": "line one\nline two\u2028end", "ts": "2026-01-05T08:00:00Z"},
    {"problem": 'Quotes "and" <tags> \\ slash', "strategy": "x", "teacher_model": "big"},
]


def file(content, name="winter.json"):
    raw = content if isinstance(content, bytes) else json.dumps(content, indent=1).encode()
    return SimpleUploadedFile(name, raw, content_type="application/json")


def check(client, content=GOOD, tenant="acme", **values):
    """Upload a file to be looked through, and return the report."""
    return post(client, url("seed"), {"tenant": tenant, "file": file(content), **values})


def write(client, report, **values):
    """Press the button that writes what a report showed."""
    return client.post(url("seed"), {**read_form(report, "write_form"), "_write": "x", **values})


def stored(tenant="acme"):
    return {(row.problem, row.strategy, row.origin) for row in StrategyStore(tenant).list(limit=100)}


def test_a_clean_file_is_reported_and_nothing_is_written_yet(admin_client, tenant):
    StrategyStore(tenant).save(problem=GOOD[0]["problem"], strategy=GOOD[0]["strategy"])
    before = state()

    page = check(admin_client)

    words = text_of(page)
    assert "No errors in 3 entries. Nothing is written yet." in words
    assert "What winter.json would do" in words
    assert rows_of(page)[0].startswith("New 2 Added with origin seeded.")
    assert rows_of(page)[1].startswith("Already there 1 Same problem and strategy")
    assert rows_of(page)[2] == "Room 999 free 2 new ones fit; nothing would be pushed out."
    assert buttons(page, "write_form") == {"_write": "Write 3 strategies for acme"}
    assert state() == before
    assert log() == []


def test_writing_stores_exactly_the_file_with_one_log_entry(admin_client, tenant):
    fill(tenant, 1)

    response = write(admin_client, check(admin_client), reason="winter")

    assert response["Location"] == url("list", tenant=tenant)
    assert messages_of(response) == ["Seeded 3 strategies of acme: 3 new, 0 there already."]
    assert stored() == {("problem 1", "way 1", "earned")} | {
        (entry["problem"], entry["strategy"], "seeded") for entry in GOOD
    }
    row = StrategyStore(tenant).get("visa-1")
    assert (row.confidence, row.teacher_model) == (2.5, None)
    assert log() == [(ADDITION, "acme", "Seeded 3 of 3 entries of winter.json. Reason: winter")]


def test_the_same_file_again_changes_nothing(admin_client, tenant):
    write(admin_client, check(admin_client))
    before = state()

    response = write(admin_client, check(admin_client))

    assert messages_of(response) == ["Seeded 3 strategies of acme: 0 new, 3 there already."]
    assert state() == before


def test_entries_can_be_pasted_instead(admin_client, tenant):
    text = json.dumps(GOOD[:1], indent=2).replace("\n", "\r\n")

    page = post(admin_client, url("seed"), {"tenant": tenant, "text": text})
    response = write(admin_client, page)

    assert "What the seed would do" in text_of(page)
    assert 'value="Write 1 strategy for acme"' in page
    assert response.status_code == 302
    assert log()[0][2] == "Seeded 1 of 1 entries."


def test_a_byte_order_mark_is_no_error(admin_client, tenant):
    assert "No errors in 3 entries" in check(admin_client, b"\xef\xbb\xbf" + json.dumps(GOOD).encode())
    page = post(admin_client, url("seed"), {"tenant": tenant, "text": "\ufeff" + json.dumps(GOOD)})
    assert "No errors in 3 entries" in page


# --- what is wrong ---------------------------------------------------------------------------------


def test_every_error_is_told_by_number_id_and_field_and_what_the_rest_would_do(admin_client, tenant):
    bad = [
        *GOOD,
        {"problem": "p4", "strategy": "s", "confidence": 4, "id": "ferry-02"},
        {"problem": "p5", "strategy": "s", "id": "ferry 07"},
        {**GOOD[0], "id": "other"},
        {"problem": "p7"},
        {"problem": "p8", "strategy": "s", "ts": "2999-12-24T09:00Z", "id": "late"},
        {"problem": "p9", "strategy": "s", "id": "visa-1", "extra": 1},
        7,
        {"problem": " ", "strategy": "x" * 5000, "confidence": True},
    ]

    page = check(admin_client, bad)

    words = text_of(page)
    assert "Nothing was written: 8 of 11 entries have an error" in words
    assert "A seed is written whole or not at all." in words
    rows = rows_of(page)
    assert [row.split()[0] for row in rows] == ["4", "5", "6", "7", "8", "9", "9", "10", "11", "11", "11"]
    assert rows[0] == "4 ferry-02 confidence 4 is not between 0 and 3. Use a number from 0 to 3."
    assert rows[1].startswith("5 ferry 07 id 'ferry 07' is no strategy id.")
    assert rows[2] == "6 other problem, strategy Same content as entry 1. Leave one of the two out."
    assert rows[3].startswith("7 none strategy Missing.")
    assert "more than 5 minutes ahead" in rows[4]
    assert {row.split()[2] for row in rows[5:7]} == {"extra", "id"}
    assert any("Same id as entry 1. Leave one of the two out." in row for row in rows)
    assert (
        rows[7]
        == "10 none Expected an object, found int. An entry is an object with a problem and a strategy."
    )
    assert "What the other 3 would do" in words
    assert "When the file has no errors, the button Write the strategies appears here." in words
    assert "write_form" not in page
    assert stored() == set()


def test_the_list_of_errors_can_be_downloaded_as_csv_without_formulas(admin_client, tenant):
    bad = [{"problem": 'é\n"x"', "strategy": "s", "id": "=1+1"}, {"problem": "\ud800", "strategy": "s"}, 7]
    page = check(admin_client, bad)

    response = admin_client.post(url("seed"), {**read_form(page, "csv_form"), "_csv": "1"})

    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="seed-errors.csv"'
    rows = list(csv.reader(io.StringIO(response.content.decode())))
    assert rows[0] == ["Entry", "Id", "Field", "What is wrong", "What to do"]
    assert [row[:3] for row in rows[1:]] == [["1", "'=1+1", "id"], ["2", "", "problem"], ["3", "", ""]]
    assert stored() == set()


def test_one_entry_with_an_error_is_told_in_the_singular(admin_client, tenant):
    assert "1 of 2 entries has an error" in check(admin_client, [GOOD[0], {}])


def test_too_little_room_is_told_with_what_to_do(admin_client, settings, tenant):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "STRATEGY_CAPACITY": 4}
    fill(tenant, 3)

    page = check(admin_client)

    words = text_of(page)
    assert "Nothing was written: there is too little room" in words
    assert "3 new strategies, room for 1. Prune 2 first, or leave 2 out." in words
    assert "Room 1 free 3 new ones do not fit." in words
    assert "write_form" not in page


def test_of_very_many_errors_the_first_are_listed(admin_client, tenant, monkeypatch):
    monkeypatch.setattr(seeding, "LISTED", 3)

    page = check(admin_client, [7] * 5)

    assert len(rows_of(page)) == 3
    assert "and 2 more." in text_of(page)


def test_what_no_page_can_carry_is_shown_escaped(admin_client, tenant):
    page = check(admin_client, b'[{"id": "\\ud800", "\\udfff": 1, "problem": "\\u0000", "strategy": "s"}]')

    assert [row.split()[1:3] for row in rows_of(page)] == [
        ["\\ud800", "\\udfff"],
        ["\\ud800", "id"],
        ["\\ud800", "problem"],
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'[{"problem": "a"\n "strategy": "b"}]', "Line 2, column 2: a comma is missing."),
        (b'[{"problem" "a"}]', "Line 1, column 13: a colon is missing."),
        (b'[{"problem": }]', "Line 1, column 14: a value is missing."),
        (b"[{problem: 1}]", "Line 1, column 3: a name in double quotes is missing."),
        (b'["a', "Line 1, column 2: a text begins here and is not closed."),
        (b'["a\nb"]', "Line 1, column 4: a line break or tab stands inside a text."),
        (b"[] []", "Line 1, column 4: there is more after the end of the list."),
        (b'["\\x"]', "Line 1, column 3: Invalid \\escape."),
        (b"", "Line 1, column 1: a value is missing."),
        (b"\xff\xfe", "not valid UTF-8"),
        (b"[NaN]", "NaN is not a JSON number."),
        (b'{"problem": "a"}', "The file must hold a list of objects with problem and strategy."),
        (b"7", "The file must hold a list of objects with problem and strategy."),
        (b"[]", "The list is empty: there is nothing to write."),
        (b'[{"a": 1, "a": 2}]', "The key 'a' occurs twice in one object."),
        (b"[" * 100_000, "nested too deeply"),
    ],
    ids=str,
)
def test_what_is_no_list_of_entries_is_told_where_it_goes_wrong(admin_client, tenant, content, told):
    page = check(admin_client, content)

    assert told in text_of(page)
    assert "Nothing was written" in page
    assert "write_form" not in page


def test_without_a_file_and_without_text_it_says_so(admin_client, tenant):
    page = post(admin_client, url("seed"), {"tenant": tenant, "text": " "})

    assert "Choose a file, or paste the entries." in page


def test_a_file_too_large_for_the_second_step_is_refused_with_the_way_out(admin_client, settings, tenant):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024 + 1000
    large = [{"problem": f"p{n}", "strategy": "x" * 300} for n in range(4)]

    page = check(admin_client, large)

    assert "The batch is too large for this page, which takes" in page
    assert "manage.py agentstore_seed" in page
    assert "write_form" not in page
    assert "write_form" in check(admin_client, large[:1])


def test_a_batch_that_grows_when_it_is_carried_is_refused_too(admin_client, tenant, monkeypatch):
    short = b'[{"problem":"p","strategy":"s","confidence":1E-4}]'
    monkeypatch.setattr(seeding, "_most", lambda: len(short))

    page = check(admin_client, short)

    assert "too large for this page" in page
    assert "write_form" not in page


def test_a_project_without_a_limit_on_forms_has_one_here(settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = None

    assert seeding._most() == seeding.MOST


# --- what happened meanwhile -----------------------------------------------------------------------


def test_a_failure_in_the_middle_tells_what_was_written_and_where_it_stopped(
    admin_client, tenant, monkeypatch
):
    report, real = check(admin_client), StrategyStore.save

    def save(self, **fields):
        if fields["problem"] == GOOD[1]["problem"]:
            raise errors.StorageFailed("The database <b>did not</b> carry out the operation.")
        return real(self, **fields)

    monkeypatch.setattr(StrategyStore, "save", save)
    response = write(admin_client, report)
    monkeypatch.undo()

    page = response.content.decode()
    assert response.status_code == 200
    assert "Wrote 1, stopped at " in text_of(page)
    assert "Entry 2: The database &lt;b&gt;did not&lt;/b&gt; carry out the operation." in page
    assert "Upload the same file again to finish" in page
    assert len(stored()) == 1
    assert log()[0][2].startswith("Seeded 1 of 3 entries of winter.json. Stopped at ")
    assert write(admin_client, check(admin_client)).status_code == 302
    assert len(stored()) == 3


def test_a_tenant_that_changed_since_the_check_is_checked_again(admin_client, tenant):
    report = check(admin_client)
    StrategyStore(tenant).save(problem=GOOD[0]["problem"], strategy=GOOD[0]["strategy"])
    before = state()

    response = write(admin_client, report)

    page = response.content.decode()
    assert response.status_code == 409
    assert "The strategies changed since the check. Nothing was written" in page
    assert state() == before
    assert log() == []
    assert write(admin_client, page).status_code == 302


@pytest.mark.parametrize(
    "values",
    [
        {"seen": ""},
        {"seen": "x"},
        {"tenant": "globex"},
        {"entries": json.dumps(GOOD[:2])},
        {"entries": json.dumps([*GOOD[:2], {"problem": "p"}])},
        {"entries": "[]"},
        {"entries": ""},
        {"entries": "{}"},
    ],
    ids=str,
)
def test_what_was_not_checked_is_not_written(admin_client, tenant, values):
    report = check(admin_client)

    response = write(admin_client, report, **values)

    assert response.status_code in (200, 409)
    assert stored() == stored("globex") == set()
    assert log() == []


def test_a_room_that_became_too_small_is_told(admin_client, settings, tenant):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "STRATEGY_CAPACITY": 3}
    report = check(admin_client)
    fill(tenant, 1)

    page = write(admin_client, report).content.decode()

    assert "there is too little room" in page
    assert len(stored()) == 1


# --- whose they become -----------------------------------------------------------------------------


def test_a_new_tenant_can_be_typed_by_who_sees_all(admin_client, tenant):
    fill(tenant, 1)
    page = check(admin_client, tenant=tenant, other=" initech ")

    response = write(admin_client, page)

    assert messages_of(response) == ["Seeded 3 strategies of initech: 3 new, 0 there already."]
    assert len(stored("initech")) == 3 and len(stored()) == 1


def test_where_nobody_has_strategies_a_tenant_must_be_named(admin_client):
    assert "Choose a tenant." in check(admin_client, tenant="")
    assert '<input type="text" name="tenant"' in get(admin_client, url("seed"))


def test_who_sees_some_tenants_can_name_no_other(admin_client, settings):
    access(settings, OnlyAcme)

    page = get(admin_client, url("seed"))
    other = admin_client.post(url("seed"), {"tenant": "acme", "other": "globex", "file": file(GOOD)})

    assert 'name="other"' not in page
    assert "Acme &amp; Sons (0 of 1,000)" in page
    assert (other.status_code, other["Location"]) == (302, "/admin/")
