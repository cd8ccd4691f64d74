"""The package imports where there is no Django, and says what it needs where there is no httpx."""

from __future__ import annotations

import pytest

from tests.isolated import run_python
from tests.live import credentials
from tests.testapp.models import Task

WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""
BLOCKED = ("django", "rest_framework", "simple_history", "psycopg", "drf_spectacular")
NO_DJANGO = WITHOUT.format(blocked=BLOCKED)


def test_it_imports_and_works_without_django():
    code = """
import httpx
from agentstore.core.errors import NotFound
from agentstore.remote import EntityClient

def answer(request):
    body = {"code": "not_found", "detail": "There is no tasks row 5.", "hint": "It may have been deleted."}
    return httpx.Response(404, json=body, headers={"X-Agentstore-Tenant": "acme"})

http = httpx.Client(transport=httpx.MockTransport(answer))
store = EntityClient("https://host/api/", client=http).store("tasks")
assert store.get("01a22bce-2930-70ad-9ae0-22bf66b66735") is None
try:
    store.update("01a22bce-2930-70ad-9ae0-22bf66b66735", {"text": "a"})
except NotFound as error:
    print(error.message)
assert not [name for name in sys.modules if name.startswith("django")]
"""

    assert "There is no tasks row" in run_python(NO_DJANGO + code).stdout


WORKER = """
import os
from agentstore import acting
from agentstore.core.errors import Conflict
from agentstore.entities.schema import EntitySchema
from agentstore.remote import EntityClient

class TaskData(EntitySchema):
    text: str
    done: bool = False

name, password = os.environ["LOGIN"].split(":")
api = EntityClient(os.environ["API"], auth=(name, password), timeout=120)
with api as client, acting(reason="nightly", context={"run": 7}):
    tasks = client.store("tasks", tenant="acme", schema=TaskData)
    row = tasks.create(TaskData(text="a"))
    row = tasks.update(row.id, {"done": True}, expected_version=1)
    try:
        tasks.replace(row.id, {"text": "b"}, expected_version=1)
    except Conflict as error:
        done = [found.id == row.id for found in tasks.iterate({"done": True})]
        print(error.current_version, row.data, done)
assert not [name for name in sys.modules if name.startswith("django")]
"""


def test_a_worker_without_django_works_on_a_server_that_runs(live):
    login = ":".join(credentials("agent:bia"))

    done = run_python(NO_DJANGO + WORKER, API=live.url, LOGIN=login)

    assert done.stdout == "2 text='a' done=True [True]\n"
    (row,) = Task.store("acme").query()
    (update, create) = Task.store("acme").history(row.id)
    assert (update.actor, update.reason, update.context) == ("agent:bia", "nightly", {"run": 7})
    assert create.op == "create"


def test_without_httpx_it_says_what_to_install():
    done = run_python(WITHOUT.format(blocked=("httpx",)) + "import agentstore.remote", check=False)

    assert done.returncode == 1
    assert "agentstore.remote needs httpx: pip install 'django-agentstore[remote]'" in done.stderr


@pytest.mark.parametrize("name", ["EntityClient", "AsyncEntityClient", "RemoteFailed", "LocalOnly"])
def test_its_names_are_public(name):
    import agentstore.remote

    assert name in agentstore.remote.__all__
    assert hasattr(agentstore.remote, name)
