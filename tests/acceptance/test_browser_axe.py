"""The admin's pages pass axe, in light and in dark, on a wide screen and on a small one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from agentstore.core.values import clock_at
from agentstore.files import FileStore
from agentstore.files.models import AgentFile
from tests.acceptance.accessibility import violations
from tests.acceptance.chromium import needs_chromium, opened, press, sign_in
from tests.testapp.models import Task

pytestmark = [pytest.mark.django_db(transaction=True), needs_chromium]

BACK = "tenant=acme&date=2026-11-02&time=12:00"


@pytest.fixture
def pages(transactional_db, tenant):
    """Addresses of the pages of files and entities, in the states that show the most."""
    files = FileStore(tenant, "bia", actor="agent:bia")
    with clock_at(datetime(2026, 11, 1, 8, tzinfo=UTC)):
        files.write("SOUL.md", "one\ntwo\n", reason="begin")
        files.write("gone.md", "x\n")
    for number in range(25):
        files.write("SOUL.md", f"one\r\n  two {number}\u00a0\u202e", reason="" if number % 2 else "more")
    files.redact("SOUL.md", 20, "a secret got in")
    files.write("born.md", "new\n")
    files.delete("gone.md", reason="no longer needed")
    FileStore("globex", "ada").write("SOUL.md", "x")
    tasks = Task.store(tenant, actor="agent:bia")
    row = tasks.create({"text": "Call Ida", "lines": [{"sku": "a"}], "tags": ["x"]})
    tasks.update(row.id, {"done": True}, reason="she called")
    tasks.delete(tasks.create({"text": "Old"}).id)
    overview = reverse("admin:agentstore_overview_changelist")
    return [overview, *_of_files(AgentFile.objects.get(name="SOUL.md", tenant=tenant).pk), *_of_tasks(row.id)]


def _of_files(soul):
    def url(name, *args):
        return reverse(f"admin:agentstore_agentfile_{name}", args=args)

    gone = AgentFile.objects.get(name="gone.md").pk
    return [
        reverse("admin:index"),
        url("changelist"),
        f"{url('agent', 'bia')}?tenant=acme&since=date",
        f"{url('deleted', 'bia')}?tenant=acme",
        f"{url('back', 'bia')}?{BACK}",
        *(url(name, soul) for name in ("change", "versions", "diff", "rename", "delete")),
        url("restore", soul, 22),
        f"{url('redact', soul)}?version=22",
        url("undelete", gone),
        url("add"),
        f"{url('add')}?tenant=acme&agent=bia",
        url("import"),
        f"{url('import')}?tenant=acme&agent=bia",
    ]


def _of_tasks(id):
    def url(name, *args):
        return reverse(f"admin:testapp_task_{name}", args=args)

    return [
        url("changelist"),
        f"{url('changelist')}?tenant=acme",
        *(url(name) for name in ("add", "import", "export")),
        *(url(name, id) for name in ("change", "history", "delete")),
    ]


def import_look(page, bia):
    """Choose files that are in the way, and see what would happen."""
    page.goto(bia)
    files = [("SOUL.md", b"other\n"), ("new.md", b"new\n")]
    page.set_input_files(
        "#id_files", [{"name": name, "mimeType": "text/plain", "buffer": text} for name, text in files]
    )
    press(page, "input[name=_look]")


@pytest.mark.parametrize(("scheme", "width"), [("light", 400), ("dark", 1280)])
def test_the_pages_of_files_and_entities_pass_axe_and_fit_the_screen(
    live_server, admin_user, pages, scheme, width
):
    bia = next(each for each in pages if "import" in each and "agent=bia" in each)

    def look_at_all(page):
        sign_in(page)
        found = {}
        for address in [*pages, "what an import does"]:
            if address in pages:
                assert page.goto(address).status == 200, address
            else:
                import_look(page, bia)
            found[address] = violations(page)
        return {address: problems for address, problems in found.items() if problems}

    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}
    with opened(live_server.url, **options) as browser:
        problems = browser.do(look_at_all, timeout=900)
    assert not problems, "\n".join(f"{address}: {told}" for address, told in problems.items())
