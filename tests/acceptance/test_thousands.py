"""A host that writes 1.234 for a thousand and more: its pages send plain numbers, and show plain versions."""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from html import unescape
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.urls import reverse
from django.utils.formats import localize

from agentstore.core.models import AuditEntry
from agentstore.files import FileStore
from agentstore.files.models import AgentFile, HistoricalAgentFile
from agentstore.strategies import StrategyStore
from tests.browser import read_form
from tests.testapp.models import Task

pytestmark = pytest.mark.django_db

#: What is added to all versions, and how one of them would look with a separator.
MORE = 7000
BROKEN_VERSION = re.compile(r"\b7[.,\u00a0\u202f]0\d\d\b")
#: A number with separators, alone or as a part of an address.
GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:[.\u00a0\u202f]\d{3})+(?![\w.])")
SENT = re.compile(
    r"<(?:input|option|button|textarea)\b[^>]*?\s(?:value|min|max|step|maxlength|rows|cols)=\"([^\"]*)\""
)
LINK = re.compile(r"\s(?:href|action)=\"([^\"]*)\"")
OURS = re.compile(r"^/admin/(?:agentstore|testapp/task)/")


@pytest.fixture
def grouping(settings, db):
    """The settings of a host that writes numbers as in German."""
    settings.LANGUAGE_CODE, settings.USE_THOUSAND_SEPARATOR = "de", True
    assert localize(MORE + 1) == "7.001"


@pytest.fixture
def stored(grouping, tenant):
    """A file and a row with versions over 7,000, and more than a thousand of everything that is counted."""
    files = FileStore(tenant, "bia", actor="agent:bia")
    files.write("gone.md", "x\n")
    for number in range(23):
        files.write("SOUL.md", "\n".join(f"line {n} {n * number}" for n in range(1100)))
    files.redact("SOUL.md", 20, "a secret got in")
    files.rename("SOUL.md", "IDENTITY.md")
    files.delete("gone.md")
    tasks = Task.store(tenant, actor="agent:bia")
    row = tasks.create({"text": "Call Ida", "priority": 1000, "lines": [{"sku": "a", "quantity": 1200}]})
    tasks.update(row.id, {"score": 1234.5, "tags": [str(n) for n in range(1100)]})
    tasks.delete(tasks.create({"text": "Old"}).id)
    tasks.create_many([{"text": f"Task {n}"} for n in range(1100)])
    lessons = StrategyStore(tenant, capacity=1001)
    for number in range(4):
        lessons.save(problem=f"problem {number}", strategy="Do it.", confidence=2)
    for model in (AgentFile, HistoricalAgentFile, Task, AuditEntry):
        model._base_manager.update(version=F("version") + MORE)
    files.restore("IDENTITY.md", MORE + 22)
    return AgentFile.objects.get(name="IDENTITY.md"), row


def complaints(page):
    """Return what of a page is a number that was made for reading, and is sent; or a version so written."""
    sent = [unescape(value) for value in [*SENT.findall(page), *LINK.findall(page)]]
    return [value for value in sent if GROUPED.search(value)] + BROKEN_VERSION.findall(page)


def shape(address):
    """Return an address without its ids and values: pages of one shape are alike."""
    parts = urlsplit(address)
    return re.sub(r"[0-9a-f-]{36}|\d+", "#", parts.path), *sorted(
        {key for key, _value in parse_qsl(parts.query)}
    )


def crawl(client, start, most=2, longest=2):
    """Yield the pages that links lead to, at most so many of one shape, with at most so many parameters."""
    waiting, seen, met = deque([start]), {start}, Counter()
    while waiting:
        address = waiting.popleft()
        answer = client.get(address, follow=True)
        if answer.status_code != 200 or "text/html" not in answer["Content-Type"]:
            continue
        page = answer.content.decode()
        yield address, page
        for link in LINK.findall(page):
            to = urljoin(address, unescape(link)).partition("#")[0]
            if to not in seen and OURS.match(to) and met[shape(to)] < most and to.count("=") <= longest:
                seen.add(to)
                met[shape(to)] += 1
                waiting.append(to)


def address(name, *args, **query):
    found = reverse(f"admin:{name}", args=args)
    return f"{found}?{urlencode(query)}" if query else found


def answers(client, obj, row):
    """Yield, by name, the pages that follow a form: stale ones, checks, questions, what was found."""
    editor, form = address("agentstore_agentfile_change", obj.pk), address("testapp_task_change", row.id)
    redact = address("agentstore_agentfile_redact", obj.pk)
    find, seed = address("agentstore_strategy_find"), address("agentstore_strategy_seed")
    loading = address("testapp_task_import")
    bad = "".join('{"text": "one more"}\n' for _each in range(1100)) + '{"text": 5}\n'
    ticked = [str(pk) for pk in Task.objects.filter(deleted_at=None).values_list("pk", flat=True)[:30]]
    yield (
        "a stale file",
        client.post(editor, _sent(client, editor, "agentfile_form", version=MORE + 23, content="x")),
    )
    mine = {"version": MORE + 1, "data.text": "mine", "data.score": "2"}
    yield "a stale row", client.post(form, _sent(client, form, "task_form", **mine))
    yield "a blanking", client.post(redact, {"version": MORE + 22})
    yield (
        "a look at changes",
        client.post(editor, _sent(client, editor, "agentfile_form", content="x", _look=1)),
    )
    given = {
        "tenant": "acme",
        "agent": "bia",
        "files": SimpleUploadedFile("IDENTITY.md", b"other"),
        "_look": 1,
    }
    yield "an import of files", client.post(address("agentstore_agentfile_import"), given)
    yield (
        "an import of rows",
        client.post(
            loading, {"tenant": "acme", "file": SimpleUploadedFile("a.jsonl", bad.encode()), "_check": 1}
        ),
    )
    yield (
        "a deletion of many",
        client.post(
            address("testapp_task_changelist"), {"action": "delete_selected", "_selected_action": ticked}
        ),
    )
    yield "a find", client.post(find, {"tenant": "acme", "objective": "problem 1", "limit": "1000"})
    yield "a pruning", client.get(address("agentstore_strategy_prune", tenant="acme", size=1))
    yield "no pruning", client.get(address("agentstore_strategy_prune", tenant="acme", size=1200))
    entries = [{"problem": f"p {n}", "strategy": "Do it."} for n in range(1100)]
    yield "a seed", client.post(seed, {"tenant": "acme", "text": json.dumps(entries)})
    yield (
        "a bad seed",
        client.post(seed, {"tenant": "acme", "text": json.dumps([*entries, {"problem": "p"}])}),
    )


def _sent(client, address, form, **values):
    return {**read_form(client.get(address).content.decode(), form), **values}


def test_no_page_after_a_form_sends_a_number_as_it_is_read_nor_writes_a_version_so(admin_client, stored):
    found = dict(answers(admin_client, *stored))

    assert {name: answer.status_code for name, answer in found.items() if answer.status_code != 200} == {
        "a stale file": 409,
        "a stale row": 409,
    }
    bad = {name: told for name, answer in found.items() if (told := complaints(answer.content.decode()))}
    assert not bad, "\n".join(f"{name}: {told}" for name, told in bad.items())


def test_no_page_sends_a_number_as_it_is_read_nor_writes_a_version_so(admin_client, stored):
    found = {each: complaints(page) for each, page in crawl(admin_client, reverse("admin:index"))}

    assert len(found) > 100
    bad = {each: told for each, told in found.items() if told}
    assert not bad, "\n".join(f"{each}: {told}" for each, told in bad.items())
