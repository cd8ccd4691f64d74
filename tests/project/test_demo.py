"""``manage.py demo``: believable data with a past, accounts that work, again and again."""

from __future__ import annotations

import socket
from collections import Counter
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import pairwise

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone

from agentstore.core.models import AuditEntry, Usage
from agentstore.entities.registry import all_entities
from project.companies import COMPANIES, KESTERLY, TANNHOLLOW
from project.demo import accounts, database
from project.demo.content import CONTENT
from project.demo.lives import Author
from project.demo.showpieces import CUSTOMER, EARLIER_TEXT, showpieces
from project.desk.models import Contact, Note, Order, Reminder

DESK = (Reminder, Contact, Order, Note)


def counts():
    """Return how much of everything there is."""
    models = (*DESK, AuditEntry, Usage, get_user_model(), Group)
    return {model.__name__: model.objects.count() for model in models}


def test_it_prints_the_account_and_the_addresses(filled):
    assert f"Admin account: {accounts.ADMIN}  password: {accounts.PASSWORD}" in filled
    for path in ("/", "/admin/", "/api/schema/", "/api/docs/"):
        assert f"http://127.0.0.1:8123{path}\n" in filled
    for name in COMPANIES.values():
        assert name in filled


def test_the_printed_account_is_an_admin(filled):
    user = authenticate(username=accounts.ADMIN, password=accounts.PASSWORD)

    assert user.is_superuser
    assert user.is_staff


def test_the_people_of_a_company_may_work_on_everything_of_it_and_act_for_no_other(filled):
    user = User.objects.get(username="maren")

    for permission in (
        "desk.change_order",
        "agentstore.change_agentfile",
        "agentstore.redact_agentfile",
        "agentstore.prune_strategy",
        "agentstore.view_incident",
    ):
        assert user.has_perm(permission), permission
    assert not user.has_perm("agentstore.act_for_tenant")


def test_starting_it_twice_duplicates_nothing(filled):
    before, output = counts(), StringIO()

    call_command("demo", "--no-serve", stdout=output)

    assert counts() == before
    assert output.getvalue().count("filled already") == 3


def test_a_changed_password_is_the_printed_one_again(filled):
    user = User.objects.get(username=accounts.ADMIN)
    user.set_password("something else")
    user.save()

    call_command("demo", "--no-serve", stdout=StringIO())

    assert authenticate(username=accounts.ADMIN, password=accounts.PASSWORD)


def test_every_company_has_rows_of_every_desk_entity(filled):
    for tenant in COMPANIES:
        assert all(model.store(tenant).count() >= 10 for model in DESK)
    assert sum(model.objects.count() for model in DESK) > 500


def test_counters_equal_live_rows(filled):
    for tenant in COMPANIES:
        for model in all_entities():
            live = model.objects.for_tenant(tenant).filter(deleted_at__isnull=True).count()
            assert model.store(tenant).usage().used == live


def test_every_change_is_in_the_audit(filled):
    """Nothing was written around the store: the history leads to exactly what is stored."""
    for model in DESK:
        for row in model.objects.filter(deleted_at__isnull=True)[::20]:
            history = model.store(row.tenant).history(row.id)
            assert [h.version for h in history if h.op in ("create", "update")] == [
                *range(row.version, 0, -1)
            ]
            assert history[-1].at == row.created_at
            assert max(h.at for h in history if h.op in ("create", "update")) == row.updated_at


def test_the_past_is_weeks_long_and_no_change_lies_in_the_future(filled):
    times = list(AuditEntry.objects.order_by("at").values_list("at", flat=True))

    assert times[-1] <= timezone.now()
    assert times[-1] - times[0] > timedelta(days=30)


def test_changes_of_a_row_follow_each_other(filled):
    entries = AuditEntry.objects.order_by("row_id", "version", "id")

    for one, next_one in pairwise(entries.iterator()):
        if one.row_id == next_one.row_id:
            assert one.at < next_one.at


def test_agents_and_people_acted_and_agents_name_their_run(filled):
    for tenant in COMPANIES:
        entries = AuditEntry.objects.for_tenant(tenant)
        actors = Counter(entries.values_list("actor", flat=True))
        assert {f"agent:{name}" for name in CONTENT[tenant].agents} <= set(actors)
        assert {f"user:{name}" for name in CONTENT[tenant].people} <= set(actors)
        assert all(entry.context["run"] for entry in entries.filter(actor__startswith="agent:"))


def test_rows_were_deleted(filled):
    for model in (Reminder, Order, Note):
        assert model.objects.filter(deleted_at__isnull=False).exists()


def test_all_rows_fit_their_schema_but_the_one_of_an_earlier_schema(filled):
    misfits = [
        row.raw
        for tenant in COMPANIES
        for model in all_entities()
        for row in model.store(tenant).iterate()
        if row.schema_errors
    ]

    assert [(raw["text"], raw["channel"]) for raw in misfits] == [(EARLIER_TEXT, "fax")]


def test_one_tenant_is_full(filled):
    assert Note.store(KESTERLY).usage().remaining == 0


@pytest.mark.parametrize("hour", [0, 5, 9, 12, 17, 23])
def test_nothing_begins_later_than_now_at_any_hour(hour):
    now = timezone.localtime().replace(hour=hour, minute=3)
    lives = list(Author(KESTERLY, now).lives())

    assert all(life.steps[0].at <= now for life in lives)


@pytest.mark.parametrize("month", [3, 10])
def test_nothing_of_the_tour_lies_in_the_future_in_a_night_of_a_clock_change(month):
    """Eighteen minutes before five past three it was not thirteen to three, if that is no time of the day."""
    now = timezone.localtime(datetime(2027, month, {3: 28, 10: 31}[month], 1, 5, tzinfo=UTC))

    assert all(step.at <= now for life in showpieces(TANNHOLLOW, now) for step in life.steps)


def test_the_order_of_the_tour_has_a_long_history(filled):
    (order,) = Order.store(TANNHOLLOW).query({"customer": CUSTOMER})

    operations = [entry.op for entry in Order.store(TANNHOLLOW).history(order.id)]

    assert order.version == 7
    assert operations == ["update", "update", "undelete", "delete", *["update"] * 4, "create"]


# --- options ------------------------------------------------------------------------------------


def test_a_port_in_use_is_refused_before_anything_is_done(db):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(CommandError, match=f"Port {port} can't be used.*--port"):
            call_command("demo", "--port", str(port), stdout=StringIO())

    assert not Reminder.objects.exists()


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http", "８０００"])
def test_what_is_no_port_is_refused(port):
    with pytest.raises(CommandError, match="expected a number from 1 to 65535"):
        call_command("demo", f"--port={port}")


def test_a_database_that_cant_be_used_is_told_in_one_sentence(db, monkeypatch):
    def fail(*words, **options):
        raise OperationalError("unable to open database file")

    monkeypatch.setattr(database, "call_command", fail)

    with pytest.raises(CommandError, match="can't be used .*: unable to open database file"):
        database.prepare()


def test_reset_leaves_a_database_alone_that_the_demo_did_not_fill(db, monkeypatch):
    User.objects.create_user("somebody")
    monkeypatch.setitem(database.connection.settings_dict, "NAME", "not-a-file")

    with pytest.raises(CommandError, match="did not fill this database"):
        database.empty()

    assert User.objects.filter(username="somebody").exists()


@pytest.mark.postgres_only
def test_reset_empties_a_database_on_a_server_that_the_demo_filled(transactional_db):
    accounts.make_accounts()
    Reminder.store(TANNHOLLOW).create({"text": "Old", "due_at": "2026-01-01T00:00:00Z"})

    database.empty()

    assert not Reminder.objects.exists()
    assert not AuditEntry.objects.exists()
    assert not User.objects.exists()
