"""The package imports where there is no Django, and says what it needs where there is no httpx."""

from __future__ import annotations

import pytest

from tests.isolated import run_python

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


def test_without_httpx_it_says_what_to_install():
    done = run_python(WITHOUT.format(blocked=("httpx",)) + "import agentstore.remote", check=False)

    assert done.returncode == 1
    assert "agentstore.remote needs httpx: pip install 'django-agentstore[remote]'" in done.stderr


@pytest.mark.parametrize("name", ["EntityClient", "AsyncEntityClient", "RemoteFailed", "LocalOnly"])
def test_its_names_are_public(name):
    import agentstore.remote

    assert name in agentstore.remote.__all__
    assert hasattr(agentstore.remote, name)
