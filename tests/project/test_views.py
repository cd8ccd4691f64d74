"""The demo's home page: every link works, nothing is secret, nothing comes from elsewhere."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agentstore.core.models import Usage
from project import settings as demo_settings
from project.companies import COMPANIES, KESTERLY
from project.demo import accounts


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


def test_the_api_opens_at_once_for_who_is_logged_in(browser):
    names = [entity["name"] for entity in browser.get("/api/entities/").json()["results"]]

    assert "/api/entities/" in links(page(browser))
    assert {"reminders", "contacts", "orders", "notes"} <= set(names)


def test_there_are_four_doors_and_five_things_to_try(demo):
    text = page(Client())

    assert text.count('class="as-card"') == 4
    assert len(re.findall(r"<li><a ", text)) == 5


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


def test_the_notes_that_are_full_say_so(browser):
    (target,) = (link for link in links(page(browser)) if KESTERLY in link and "note" in link)

    assert "Full: new notes are refused." in browser.get(target).content.decode()


def test_what_is_inside_is_counted(browser):
    text = page(browser)

    for tenant, name in COMPANIES.items():
        row = text.split(f">{name}</a>")[1].split("</tr>")[0]
        live = sum(Usage.objects.for_tenant(tenant).values_list("used", flat=True))
        assert f'<td class="as-num">{live:,}</td>' in row


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
    assert re.findall(r"<script|<style|\sstyle=|\son\w+=", page(browser)) == []


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
