"""A host with two databases: a router sends entities to the second, and all of an operation goes there."""

from __future__ import annotations

import json

from tests.isolated import run_python

SETTINGS = """
from tests.settings import *

DATABASES = {
    alias: {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{__file__}.{alias}.sqlite3"}
    for alias in ("default", "entities")
}


class Router:
    APPS = {"agentstore", "testapp", "desk", "reference"}

    def db_for_read(self, model, **hints):
        return "entities" if model._meta.app_label in self.APPS else None

    db_for_write = db_for_read

    def allow_migrate(self, alias, app_label, **hints):
        return (alias == "entities") == (app_label in self.APPS)


DATABASE_ROUTERS = ["two.Router"]
ALLOWED_HOSTS = ["*"]
"""

LIFE = """
import django, io, json
django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connections, transaction
from django.test import Client
from agentstore.signals import row_changed
from tests.browser import read_form
from tests.testapp.models import Task

for alias in ("default", "entities"):
    call_command("migrate", database=alias, verbosity=0)
found = {"tables": [t for t in connections["default"].introspection.table_names() if "agentstore_" in t]}

heard = []
listen = lambda **news: heard.append(news["op"])
row_changed.connect(listen)
store = Task.store("acme", actor="agent:bia")
with transaction.atomic("entities"):
    row = store.create({"text": "a"}, idempotency_key="k")
    found["before the commit"] = list(heard)
with transaction.atomic("default"):
    store.update(row.id, {"text": "b"})
store.delete(row.id)
store.undelete(row.id)
found["heard"] = list(heard)
found["swept"] = [row.data.text for row in Task.sweep(reason="test")]
found["history"] = len(store.history(row.id))

client = Client()
client.force_login(User.objects.create_superuser("admin"))
base = "/admin/testapp/task/"
pages = ["", "?tenant=acme&o=-4", "?deleted=1", "add/", "import/"]
pages += [f"{row.id}/{page}" for page in ("change/", "history/", "versions/1/", "delete/")]
found["pages"] = {client.get(base + page).status_code for page in pages}
form = read_form(client.get(f"{base}{row.id}/change/").content.decode(), "task_form")
client.post(f"{base}{row.id}/change/", {**form, "data.text": "typed", "_save": "x"})
found["typed"] = store.get(row.id).data.text
listed = client.get("/api/entities/tasks/", headers={"X-Agentstore-Tenant": "acme"}).json()
found["rest"] = listed["results"][0]["data"]["text"]
store.delete(row.id)
out = io.StringIO()
call_command("agentstore_purge", "--days", "0", stdout=out)
found["purged"] = "tasks: 1 rows, 6 audit entries" in out.getvalue()
print(json.dumps({**found, "pages": list(found["pages"])}))
"""


def test_all_of_an_entitys_life_is_in_the_database_of_its_router(tmp_path):
    (tmp_path / "two.py").write_text(SETTINGS)

    done = run_python(LIFE, DJANGO_SETTINGS_MODULE="two", PYTHONPATH=str(tmp_path), DATABASE_URL="sqlite://")

    assert json.loads(done.stdout.splitlines()[-1]) == {
        "tables": [],
        "before the commit": [],
        "heard": ["create", "update", "delete", "undelete"],
        "swept": ["b"],
        "history": 4,
        "pages": [200],
        "typed": "typed",
        "rest": "typed",
        "purged": True,
    }
