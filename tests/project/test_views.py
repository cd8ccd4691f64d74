"""The demo's home page: every link works, nothing is secret, nothing comes from elsewhere."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import NoReverseMatch, reverse

from agentstore.core.models import AuditEntry
from agentstore.entities.registry import all_entities
from agentstore.files import FileStore
from agentstore.files.models import AgentFile
from agentstore.strategies import StrategyStore
from project import settings as demo_settings
from project import tour
from project.companies import COMPANIES, TANNHOLLOW
from project.demo import accounts
from tests.browser import text_of

#: pytest-django makes the databases that some test asks for; ``filled`` is no such request.
pytestmark = pytest.mark.django_db


@pytest.fixture
def demo(filled, settings):
    """The filled database under the demo's own access rules."""
    settings.AGENTSTORE = demo_settings.AGENTSTORE


@pytest.fixture
def browser(demo):
    """A client logged in with the printed account."""
    client = Client()
    client.force_login(User.objects.get(username=accounts.ADMIN))
    return client


def links(text):
    """Return the targets of the page's links, its own address left out."""
    return [unescape(target) for target in re.findall(r'<a href="([^"]+)"', text) if target != "/"]


def page(client):
    return client.get(reverse("home")).content.decode()


def test_every_link_works_for_who_is_logged_in(browser):
    for target in links(page(browser)):
        assert browser.get(target, follow=True).status_code == 200, target


def test_every_link_works_or_leads_through_the_login_for_strangers(demo):
    for target in links(page(Client())):
        response = Client().get(target)
        if response.status_code == 302:
            assert response.url.startswith(reverse("admin:login")), target
        else:
            assert response.status_code == 200, target


def test_the_tools_open_at_once_for_who_is_logged_in(browser):
    (target,) = (link for link in links(page(browser)) if link.startswith("/api/tools/"))

    names = {tool["name"] for tool in browser.get(target).json()["results"]}

    assert {"reminders_query", "file_read", "strategy_find"} <= names


def test_there_are_doors_to_all_three_kinds_and_eight_things_to_try(demo):
    text = page(Client())

    for title in ("Overview", "Agent files", "Strategies", "Tools for a model", "Example agent"):
        assert f">{title}</a></h3>" in text
    assert text.count('class="as-card"') == 8
    assert len(re.findall(r"<li><a ", text)) == 8


def test_what_the_admin_does_not_have_is_left_out(demo, monkeypatch):
    """A project may take strategies out of its admin; the page has no dead links then."""
    real = tour.reverse

    def without_strategies(name, args=()):
        if "strategy" in name:
            raise NoReverseMatch(name)
        return real(name, args=args)

    monkeypatch.setattr(tour, "reverse", without_strategies)

    text = page(Client())

    assert text.count('class="as-card"') == 7
    assert len(re.findall(r"<li><a ", text)) == 6


def test_the_restored_version_is_the_last_that_people_wrote(browser):
    (target,) = (link for link in links(page(browser)) if "/restore/" in link)
    version = int(target.rstrip("/").rsplit("/", 1)[1])

    history = FileStore(TANNHOLLOW, "bia").versions("SOUL.md")

    assert next(info.version for info in history if info.actor.startswith("user:")) == version


def test_what_pruning_would_delete_is_shown(browser):
    (target,) = (link for link in links(page(browser)) if "prune" in link)

    text = browser.get(target).content.decode()

    assert "20" in text
    assert StrategyStore(TANNHOLLOW).usage().remaining == 0


def test_the_login_leads_back_to_the_page(demo):
    (target,) = (link for link in links(page(Client())) if link.endswith("next=/"))

    form = {"username": accounts.ADMIN, "password": accounts.PASSWORD, "next": "/"}
    response = Client().post(target, form)

    assert parse_qs(urlsplit(target).query) == {"next": ["/"]}
    assert (response.status_code, response.url) == (302, "/")


def test_the_list_of_deleted_reminders_shows_deleted_ones(browser):
    (target,) = (link for link in links(page(browser)) if "deleted" in link)

    text = browser.get(target).content.decode()

    assert "no longer needed" not in text
    assert 'aria-current="page"' in text
    assert "Undelete selected reminders" in text


def test_what_is_inside_is_counted(browser):
    text = page(browser)

    for tenant, name in COMPANIES.items():
        row = text.split(f">{name}</a>")[1].split("</tr>")[0]
        live = sum(model.store(tenant).count() for model in all_entities())
        files = AgentFile.objects.filter(tenant=tenant, deleted_at=None).count()
        lessons = StrategyStore(tenant).usage()
        cells = re.findall(r'<td class="as-num">([^<]*)</td>', row)
        assert cells == [f"{live:,}", f"{files:,}", f"{lessons.used} of {lessons.capacity}"]


def test_a_company_leads_to_all_that_it_keeps(browser):
    (target,) = (link for link in links(page(browser)) if link.endswith("overview/?tenant=tannhollow"))

    text = browser.get(target).content.decode()

    assert text.count('class="as-card"') == 1
    assert "Tannhollow Freight" in text
    assert "Kesterly" not in text


def test_without_the_overview_companies_lead_to_the_admins_start(demo, monkeypatch):
    real = tour.reverse

    def without_overview(name, args=()):
        if "overview" in name:
            raise NoReverseMatch(name)
        return real(name, args=args)

    monkeypatch.setattr(tour, "reverse", without_overview)

    text = page(Client())

    assert "overview" not in text
    assert f'<a href="{real("admin:index")}">Tannhollow Freight</a>' in text


def test_the_example_shows_what_was_said_and_each_call(demo):
    text = text_of(Client().get(reverse("example")).content.decode())

    assert "Customer Ada Fennimore here, Fennimore Harps." in text
    assert 'strategy_find { "objective": "harps stairs" }' in text
    assert "Meanwhile Tobi sees the new order" in text
    assert "python manage.py play" in text


def test_the_example_carries_nothing_out(demo):
    before = AuditEntry.objects.count()

    Client().get(reverse("example"))

    assert AuditEntry.objects.count() == before
    assert Client().post(reverse("example")).status_code == 405


def test_every_link_of_the_example_works(browser):
    found = links(browser.get(reverse("example")).content.decode())

    assert found
    assert {browser.get(target).status_code for target in found} == {200}


def test_the_page_says_who_is_logged_in_and_lets_them_out(browser):
    text = page(browser)

    assert f"<strong>{accounts.ADMIN}</strong>" in text
    assert f'action="{reverse("admin:logout")}"' in text


def test_no_password_stands_on_the_page(browser):
    assert accounts.PASSWORD not in page(browser)


def test_nothing_comes_from_another_host(browser):
    for address in (reverse("home"), reverse("docs")):
        text = browser.get(address).content.decode()
        assert re.findall(r'(?:src|href|action)="(?:https?:)?//[^"]*', text) == []


def test_there_is_no_inline_script_or_style(browser):
    for text in (page(browser), browser.get(reverse("example")).content.decode()):
        assert re.findall(r"<script|<style|\sstyle=|\son\w+=", text) == []


def test_headings_are_in_order(browser):
    levels = [int(level) for level in re.findall(r"<h([1-6])", page(browser))]

    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in zip(levels, levels[1:], strict=False))


def test_the_readme_is_served_as_text(browser):
    response = browser.get(reverse("readme"))

    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert b"five-minute tour" in response.content


def test_the_page_takes_no_posts(demo):
    assert Client().post(reverse("home")).status_code == 405
