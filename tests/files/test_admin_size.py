"""A page of differences stays small, whatever the texts: it is capped, with downloads instead."""

import random

import pytest

from agentstore.files import FileStore
from agentstore.files.admin import unusual
from agentstore.files.models import AgentFile

pytestmark = pytest.mark.django_db

LIMIT = 102_400


def lines(seed, length):
    """Return almost 100 KiB of lines of about ``length`` characters."""
    chooser = random.Random(seed)
    count = (LIMIT - 1000) // (length + 1)
    return "\n".join("".join(chooser.choices("abc <&>'\"", k=length)) for _ in range(count))


def test_the_name_of_an_invisible_character_is_made_once_however_often_it_stands_there(monkeypatch):
    made = []
    monkeypatch.setattr(unusual, "badge", lambda text: made.append(text) or f"[{text}]")
    unusual._named.cache_clear()

    shown = unusual.visible("<\r\u200b" * 30_000)
    unusual._named.cache_clear()

    assert shown == "&lt;[CR][U+200B]" * 30_000
    assert made == ["CR", "U+200B"]


@pytest.mark.parametrize("length", [1, 5, 20, 80, 1000, 50_000])
def test_a_page_of_differences_stays_under_a_megabyte(admin_client, tenant, length):
    files = FileStore(tenant, "bia")
    files.write("a.md", lines(1, length))
    files.write("a.md", lines(2, length))
    id = AgentFile.objects.get(tenant=tenant).pk

    page = admin_client.get(f"/admin/agentstore/agentfile/{id}/diff/?from=1&to=2")

    assert page.status_code == 200 and "a.md" in page.content.decode()
    assert len(page.content) < 1_000_000
