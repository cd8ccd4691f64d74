"""The overview page: its cards, the latest changes, incidents; what it says when there is little."""

from __future__ import annotations

import re

import pytest
from django.contrib import admin
from django.urls import reverse

from agentstore.core.models import AuditEntry
from agentstore.files import FileStore
from agentstore.strategies import StrategyStore
from tests.browser import text_of
from tests.overview.conftest import at
from tests.overview.pages import cards_of, feet_of, get, links_of, rows_of, url
from tests.strategies.admin_pages import EVIL, inert
from tests.testapp.models import Small, Task

pytestmark = pytest.mark.django_db


def test_the_admins_index_leads_to_the_page(admin_client):
    index = admin_client.get(reverse("admin:index")).content.decode()

    assert f'href="{url()}"' in index


def test_a_card_says_how_much_of_each_kind_there_is_and_may_be(admin_client, stored):
    cards = cards_of(get(admin_client))

    assert list(cards) == ["globex", "acme"]
    assert cards["acme"]["Tasks"] == "1 of 10,000"
    assert cards["acme"]["Smalls"] == "0 of 5"
    assert cards["acme"]["Strategies"] == "0 of 1,000"
    assert cards["acme"]["Files"] == "bia ≈ 4 B of 16 MiB"
    assert cards["globex"]["Strategies"] == "1 of 1,000"
    assert cards["globex"]["Files"] == "0 of 16 MiB"


def test_deleted_rows_and_files_count_no_more(admin_client, stored, tenant):
    Task.store(tenant).delete(stored.id)
    FileStore(tenant, "bia").delete("SOUL.md")

    card = cards_of(get(admin_client))["acme"]

    assert (card["Tasks"], card["Files"]) == ("0 of 10,000", "0 of 16 MiB")


def test_where_writes_are_refused_the_bar_is_red(admin_client, stored):
    page = get(admin_client)

    assert cards_of(page)["globex"]["Smalls"] == "full 5 of 5"
    assert page.count("as-bar-full") == page.count("as-tag-warn") == 1


def test_full_strategies_are_normal(admin_client, settings, tenant):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "STRATEGY_CAPACITY": 1}
    StrategyStore(tenant).save(problem="The gate is shut", strategy="Ring twice.")

    page = get(admin_client)

    assert cards_of(page)["acme"]["Strategies"] == "full 1 of 1"
    assert "as-bar-full" not in page


@pytest.mark.parametrize(
    ("capacity", "words"),
    [(10, "90 % 9 of 10"), (11, "9 of 11"), (9, "full 9 of 9"), (8, "full 9 of 8")],
    ids=str,
)
def test_from_ninety_per_cent_on_the_per_cent_is_told(admin_client, settings, tenant, capacity, words):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "STRATEGY_CAPACITY": 100}
    store = StrategyStore(tenant)
    for number in range(9):
        store.save(problem=f"problem {number}", strategy="way")
    settings.AGENTSTORE = {**settings.AGENTSTORE, "STRATEGY_CAPACITY": capacity}

    assert cards_of(get(admin_client))["acme"]["Strategies"] == words


def test_the_last_free_place_is_not_told_as_full(admin_client, settings, tenant):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_AGENT_BYTES": 10_000}
    FileStore(tenant, "bia").write("a.md", "x" * 9_999)

    page = get(admin_client)

    assert cards_of(page)["acme"]["Files"] == "99 % bia ≈ 9.8 KiB of 9.8 KiB"
    assert 'width="99.99%"' in page


def test_files_show_the_agent_nearest_to_its_limit(admin_client, tenant):
    FileStore(tenant, "ada").write("a.md", "x" * 60_000)
    for number in range(3):
        FileStore(tenant, "bia").write(f"{number}.md", "x" * 80_000)

    page = get(admin_client)

    assert cards_of(page)["acme"]["Files"] == "bia ≈ 234.4 KiB of 16 MiB"
    assert "2 agents, 4 files, 4 versions. The bar shows the agent nearest to its limit." in feet_of(page)[0]


def test_an_agent_with_too_many_files_is_near_its_limit_too(admin_client, settings, tenant):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_FILES": 3}
    FileStore(tenant, "ada").write("a.md", "x" * 90_000)
    for number in range(3):
        FileStore(tenant, "bia").write(f"{number}.md", "")

    assert cards_of(get(admin_client))["acme"]["Files"] == "full bia 3 of 3 files"


def test_limits_of_zero_are_full(admin_client, settings, tenant, stored):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_AGENT_BYTES": 0, "FILE_MAX_FILES": 0}

    assert cards_of(get(admin_client))["acme"]["Files"].startswith("full bia")


def test_the_latest_changes_of_all_kinds_stand_newest_first(admin_client, stored):
    rows = rows_of(get(admin_client), "Recent changes")
    row = Small.objects.first().pk

    assert rows[0][:4] == ["30 Nov 2026, 09:04", "globex", "small", rows[0][3]]
    assert str(row) in [each[3].removesuffix(", version 1") for each in rows[:5]]
    assert rows[5:] == [
        ["30 Nov 2026, 09:03", "acme", "task", "Call Ida, version 2", "changed", "user:maren", "none given"],
        ["30 Nov 2026, 09:02", "globex", "strategy", "The gate is shut", "saved", "–", ""],
        [
            "30 Nov 2026, 09:01",
            "acme",
            "file",
            "bia: SOUL.md, version 1",
            "created",
            "agent:bia",
            "none given",
        ],
        [
            "30 Nov 2026, 09:00",
            "acme",
            "task",
            "Call Ida, version 1",
            "created",
            "agent:bia",
            "asked in a chat",
        ],
    ]


def test_every_link_of_the_page_works(admin_client, stored):
    page = get(admin_client)
    main = page.split('<div id="content-main">')[1].split("<footer")[0]
    links = {link.replace("&amp;", "&") for link in re.findall(r'<a href="([^"]+)"', main)}

    answers = {link: admin_client.get(url() + link if link[0] == "?" else link) for link in links}

    assert len(links) > 15
    assert {link for link, answer in answers.items() if answer.status_code != 200} == set()


def test_deletes_and_what_undoes_them_are_named(admin_client, tenant):
    tasks, files = Task.store(tenant), FileStore(tenant, "bia")
    with at(0):
        row = tasks.create({"text": "Call Ida"})
        files.write("a.md", "one")
    with at(1):
        tasks.delete(row.id, reason="asked to be forgotten")
    with at(2):
        tasks.undelete(row.id)
    for minute, change in enumerate(
        (
            lambda: files.write("a.md", "two"),
            lambda: files.rename("a.md", "b.md"),
            lambda: files.restore("b.md", 1),
            lambda: files.delete("b.md"),
            lambda: files.undelete("b.md"),
        ),
        start=3,
    ):
        with at(minute):
            change()

    rows = rows_of(get(admin_client), "Recent changes")

    assert [(row[3], row[4]) for row in rows[:7]] == [
        ("bia: b.md, version 5", "undeleted"),
        ("bia: b.md, version 4", "deleted"),
        ("bia: b.md, version 4", "restored"),
        ("bia: b.md, version 3", "renamed"),
        ("bia: a.md, version 2", "changed"),
        ("Call Ida", "undeleted"),
        ("Call Ida", "deleted"),
    ]


def test_a_change_leads_to_what_it_changed(admin_client, stored, tenant):
    files = FileStore(tenant, "bia")
    with at(10):
        files.write("SOUL.md", "two\n")
    with at(11):
        files.write("gone.md", "x")
    with at(12):
        files.delete("gone.md")

    links = links_of(get(admin_client, tenant=tenant), "Recent changes")

    assert links[0] == links[1] == "/admin/agentstore/agentfile/agent/bia/deleted/?tenant=acme"
    assert links[2].endswith("/diff/?from=1&to=2")
    assert links[3] == reverse("admin:testapp_task_history", args=[stored.id])
    assert links[4].endswith("/versions/")


def test_a_row_that_is_gone_for_good_is_still_told(admin_client, stored):
    Task._base_manager.all()._raw_delete("default")

    page = get(admin_client, tenant="acme")

    assert rows_of(page, "Recent changes")[0][3] == f"{stored.id}, version 2"
    assert str(stored.id) not in "".join(links_of(page, "Recent changes"))


def test_no_more_than_twelve_changes_are_shown(admin_client, tenant):
    with at(0):
        Task.store(tenant).create_many([{"text": f"t{number}"} for number in range(20)])
    with at(1):
        Task.store(tenant).create({"text": "last"})

    rows = rows_of(get(admin_client), "Recent changes")

    assert len(rows) == 12
    assert rows[0][3] == "last, version 1"


def test_seeds_are_told_from_what_was_earned(admin_client, tenant):
    StrategyStore(tenant).seed([{"id": "s1", "problem": "The gate is shut", "strategy": "Ring twice."}])

    assert rows_of(get(admin_client), "Recent changes")[0][4] == "seeded"


def test_an_op_of_tomorrow_is_shown_as_it_is(admin_client, stored):
    AuditEntry._base_manager.filter(op="update").update(op="merge")

    assert rows_of(get(admin_client, tenant="acme"), "Recent changes")[0][4] == "merge"


def test_incidents_lead_to_the_row_or_to_the_list(admin_client, stored, other_tenant):
    page = get(admin_client)

    assert sorted(rows_of(page, "Incidents")) == [
        ["find failed", "none", "acme", "1", "30 Nov 2026, 09:05", "It broke.", "Details find failed, acme"],
        ["skipped", "g1", "globex", "1", "30 Nov 2026, 09:05", "Skipped: confidence.", "Open the row g1"],
    ]
    links = "".join(links_of(page, "Incidents"))
    assert "/admin/agentstore/incident/?tenant=acme&kind=find" in links
    assert re.search("/admin/agentstore/strategy/[0-9a-f-]{36}/change/", links)
    assert [foot.endswith("1 incident") for foot in feet_of(page)] == [True, True]


def test_an_empty_database_says_what_to_do(admin_client):
    words = text_of(get(admin_client))

    assert "Nothing stored yet. Run the demo, or create a row." in words
    assert "Recent changes" not in words


def test_what_there_is_none_of_is_said(admin_client, tenant):
    FileStore(tenant, "bia").write("SOUL.md", "one\n")

    words = text_of(get(admin_client))

    assert "No incidents." in words
    assert "1 tenant. Rows and strategies are counted exactly; sizes (≈) are rounded." in words


def test_the_zone_is_named_once(admin_client, stored):
    assert text_of(get(admin_client)).count("Times are shown in Europe/Berlin.") == 1


def test_what_was_stored_is_inert(admin_client, tenant):
    name = f"<b>{tenant}</b>"
    Task.store(name, actor=EVIL[:200]).create({"text": EVIL}, reason=EVIL)
    StrategyStore(name).save(problem=EVIL, strategy=EVIL)
    FileStore(name, "bia", actor=EVIL[:200]).write("<i>.md", EVIL, reason=EVIL)

    page = get(admin_client)

    assert inert(page)
    assert "<b>" not in page
    assert "<i>" not in page
    assert list(cards_of(page)) == [name]


def test_the_page_takes_no_posts(admin_client, stored):
    assert admin_client.post(url()).status_code == 403


def test_only_the_page_itself_has_an_address(admin_client, stored):
    assert admin_client.get(url() + "add/").status_code == 404
    assert admin_client.get(f"{url()}{stored.id}/change/").status_code == 404


def test_a_hosts_own_registration_stays():
    from agentstore.admin import OverviewAdmin, register_missing
    from agentstore.overview.models import Overview

    class Own(OverviewAdmin):
        pass

    site = admin.AdminSite("other")
    site.register(Overview, Own)

    register_missing(site)

    assert type(site.get_model_admin(Overview)) is Own
