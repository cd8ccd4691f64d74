"""What holds for every page of the entities' admin: no inline script or style, labels, one heading."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.entities.admin_pages import url
from tests.testapp.models import Task

WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE)\b", re.IGNORECASE)


@pytest.fixture
def addresses(db, tenant, actor):
    """The address of every page by its name."""
    store = Task.store(tenant, actor=actor)
    row, gone = store.create_many(
        [{"text": "a", "tags": ["x"], "lines": [{"sku": "s"}], "address": {"street": "Quay"}}, {"text": "b"}]
    )
    store.update(row.id, {"done": True})
    store.delete(gone.id)
    return {
        "list": url("changelist"),
        "tenant": url("changelist") + "?tenant=acme",
        "gone list": url("changelist") + "?deleted=1",
        "add": url("add"),
        "change": url("change", row.id),
        "gone": url("change", gone.id),
        "history": url("history", row.id),
        "version": url("version", row.id, 1),
        "delete": url("delete", row.id),
        "undelete": url("undelete", gone.id),
        "import": url("import"),
        "export": url("export"),
    }


PAGES = (
    "list", "tenant", "gone list", "add", "change", "gone", "history", "version", "delete", "undelete",
    "import", "export",
)  # fmt: skip


@pytest.fixture(params=PAGES)
def page(request, addresses, admin_client):
    """The text of each page in turn."""
    return admin_client.get(addresses[request.param]).content.decode()


def test_a_page_has_no_inline_script_or_style(page):
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son[a-z]+=|<style", page)


def test_a_page_has_one_heading_and_our_sheet(page):
    assert page.count("<h1") == 1 + page.count('<h1 id="site-name"')
    assert page.count("agentstore/admin.css") == 1


def test_every_input_has_a_label(page):
    content = page.split('id="content"')[1]
    labelled = set(re.findall(r'<label[^>]* for="([^"]+)"', content))

    for tag in re.findall(r"<(?:input|select|textarea)\b[^>]*>", content):
        if re.search(r'type="(hidden|submit)"|aria-label=|name="action"', tag):
            continue
        assert re.search(r'id="([^"]+)"', tag)[1] in labelled, tag


def test_ids_are_unique(page):
    ids = re.findall(r'\sid="([^"]+)"', page)

    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", PAGES)
def test_opening_a_page_writes_nothing(addresses, admin_client, name):
    admin_client.get(addresses["list"])

    with CaptureQueriesContext(connection) as queries:
        admin_client.get(
            addresses[name], {"post": "yes", "_save": "x", "version": "1", "action": "delete_selected"}
        )

    assert [query["sql"] for query in queries if WRITES.match(query["sql"])] == []
