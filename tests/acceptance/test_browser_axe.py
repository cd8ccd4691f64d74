"""The admin's pages pass axe and fit, in light and in dark, on a wide screen and on a small one.

Everything on them that an agent names is one long word: nothing may push a page out of the screen.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from agentstore.core.values import clock_at
from agentstore.files import FileStore
from agentstore.files.models import AgentFile
from tests.acceptance.accessibility import SCREENS, check_pages
from tests.acceptance.chromium import needs_chromium, press
from tests.testapp.models import Task

# Pages look alike on every database, and these looks take long.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres_only, needs_chromium]

BACK = "tenant=acme&date=2026-11-02&time=12:00"
BIA = "bia." + "b" * 60
NAME = "n" * 252 + ".md"
GONE = "notes/" + "g" * 246 + ".md"
ACTOR = "agent:" + "a" * 194
REASON = "https://example.com/" + "r" * 300
WORD = "w" * 300


@pytest.fixture
def pages(transactional_db, tenant):
    """Addresses of the pages of files and entities, in the states that show the most."""
    soul, row = _files(tenant), _tasks(tenant)
    gone = AgentFile.objects.get(name=GONE).pk
    overview = reverse("admin:agentstore_overview_changelist")
    return [overview, f"{overview}?tenant=acme", *_of_files(soul, gone), *_of_tasks(row)]


def _files(tenant):
    files = FileStore(tenant, BIA, actor=ACTOR)
    with clock_at(datetime(2026, 11, 1, 8, tzinfo=UTC)):
        files.write(f"old{NAME[3:]}", "one\ntwo\n", reason=REASON)
        files.write(GONE, "x\n")
    files.rename(f"old{NAME[3:]}", NAME, reason=REASON)
    for number in range(25):
        files.write(NAME, f"one\r\n  two {number}\u00a0\u202e{WORD}", reason="" if number % 2 else REASON)
    files.redact(NAME, 20, REASON)
    files.restore(NAME, 25, reason=REASON)
    files.write("born.md", "new\n")
    files.delete(GONE, reason=REASON)
    for _again in range(2):
        files.write(f"taken{NAME[5:]}", "new\n")
        files.delete(f"taken{NAME[5:]}", reason=REASON)
    files.write(f"taken{NAME[5:]}", "new\n")
    FileStore("globex", "ada").write("SOUL.md", "x")
    return AgentFile.objects.get(name=NAME, tenant=tenant).pk


def _tasks(tenant):
    tasks = Task.store(tenant, actor=ACTOR)
    row = tasks.create({"text": f"Call {WORD}", "lines": [{"sku": WORD}], "tags": ["x", WORD]})
    tasks.update(row.id, {"done": True, "tags": [WORD]}, reason=REASON)
    address = {"street": WORD, "city": WORD}
    tasks.update(row.id, {"lines": [{"sku": f"{WORD}2"}], "address": address}, reason=REASON)
    tasks.delete(tasks.create({"text": WORD}).id, reason=REASON)
    return row.id


def _of_files(soul, gone):
    def url(name, *args):
        return reverse(f"admin:agentstore_agentfile_{name}", args=args)

    return [
        reverse("admin:index"),
        url("changelist"),
        f"{url('changelist')}?tenant=acme&q=nnn",
        f"{url('agent', BIA)}?tenant=acme&since=date",
        f"{url('agent', BIA)}?tenant=acme&since=7d",
        f"{url('deleted', BIA)}?tenant=acme",
        f"{url('back', BIA)}?{BACK}",
        *(url(name, soul) for name in ("change", "versions", "diff", "rename", "delete")),
        f"{url('diff', soul)}?from=22&to=23",
        url("restore", soul, 22),
        url("redact", soul),
        f"{url('redact', soul)}?version=22",
        url("undelete", gone),
        url("add"),
        f"{url('add')}?tenant=acme&agent={BIA}",
        url("import"),
        f"{url('import')}?tenant=acme&agent={BIA}",
    ]


def _of_tasks(id):
    def url(name, *args):
        return reverse(f"admin:testapp_task_{name}", args=args)

    gone = Task.objects.get(deleted_at__isnull=False).pk
    return [
        url("changelist"),
        f"{url('changelist')}?tenant=acme",
        f"{url('changelist')}?deleted=1",
        *(url(name) for name in ("add", "import", "export")),
        *(url(name, id) for name in ("change", "history", "delete")),
        url("version", id, 3),
        *(url(name, gone) for name in ("change", "undelete")),
    ]


def import_look(page, bia):
    """Choose files that are in the way, and see what would happen."""
    page.goto(bia)
    files = [(NAME, WORD.encode()), (f"new{NAME[3:]}", b"new\n")]
    page.set_input_files(
        "#id_files", [{"name": name, "mimeType": "text/plain", "buffer": text} for name, text in files]
    )
    press(page, "input[name=_look]")


def save_stale_file(page, address):
    """Save a file from a form that was opened at an older version."""
    page.goto(address)
    page.evaluate("document.querySelector('#agentfile_form [name=version]').value = '3'")
    page.fill("#id_content", WORD)
    press(page, "input[name=_save]")


def save_stale_task(page, address):
    """Save a row from a form that was opened at an older version."""
    page.goto(address)
    page.evaluate("document.querySelector('#task_form [name=version]').value = '2'")
    page.fill("[name='data.text']", f"mine {WORD}")
    press(page, "input[name=_save]")


def states(pages):
    """Return every state of the pages: by name, what leads there."""

    def visit(page, address):
        assert page.goto(address).status == 200, address

    def find(*parts):
        return next(each for each in pages if all(part in each for part in parts))

    editor, form = find("agentfile", "/change/"), find("task", "/change/")
    led = {address: (lambda page, to=address: visit(page, to)) for address in pages}
    acts = {
        "what an import does": lambda page: import_look(page, find("agentfile", "import", BIA)),
        "a stale file": lambda page: save_stale_file(page, editor),
        "a stale row": lambda page: save_stale_task(page, form),
    }
    return led | acts


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_the_pages_of_files_and_entities_pass_axe_and_fit_the_screen(
    live_server, admin_user, pages, scheme, width
):
    check_pages(live_server.url, states(pages), scheme=scheme, width=width)
