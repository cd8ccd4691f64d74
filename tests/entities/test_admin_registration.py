"""Who registers an entity with the admin: the host if it wants to, agentstore otherwise."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
from django.contrib import admin

from agentstore.admin import EntityAdmin, register_missing
from agentstore.entities.registry import all_entities
from tests.testapp.models import Task

HOST = """
    from django.contrib import admin
    from {home} import EntityAdmin
    from host.models import Thing
    @admin.register(Thing)
    class ThingAdmin(EntityAdmin):
        pass
"""
MODELS = """
    from agentstore.entities import EntityModel, EntitySchema
    class Thing(EntityModel):
        "Things."
        class Schema(EntitySchema):
            name: str
    class Other(EntityModel):
        "Others."
        class Schema(EntitySchema):
            name: str
"""
PROGRAM = """
    import django
    from django.conf import settings
    apps = {apps}
    settings.configure(
        SECRET_KEY="x", USE_TZ=True,
        DATABASES={{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}}},
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
            "django.contrib.messages", "simple_history", *apps],
    )
    django.setup()
    from django.contrib import admin
    from host.models import Other, Thing
    print(type(admin.site._registry[Thing]).__name__, type(admin.site._registry[Other]).__name__)
"""


def test_every_entity_is_registered():
    assert all(admin.site.is_registered(model) for model in all_entities())


def test_what_is_registered_already_stays():
    class Own(admin.ModelAdmin):
        pass

    site = admin.AdminSite("other")
    site.register(Task, Own)

    register_missing(site)
    register_missing(site)

    assert type(site.get_model_admin(Task)) is Own
    assert all(site.is_registered(model) for model in all_entities())


ADMIN = "django.contrib.admin"


@pytest.mark.parametrize("home", ["agentstore.admin", "agentstore.entities.admin"])
@pytest.mark.parametrize(
    "apps",
    [
        [ADMIN, "agentstore", "host"],
        [ADMIN, "host", "agentstore"],
        ["host", ADMIN, "agentstore"],
        ["agentstore", ADMIN, "host"],
        ["host", "agentstore", ADMIN],
    ],
    ids=" ".join,
)
def test_a_hosts_own_registration_wins_in_any_order_of_apps(tmp_path, home, apps):
    host = tmp_path / "host"
    host.mkdir()
    for name, text in (("__init__", ""), ("models", MODELS), ("admin", HOST.format(home=home))):
        (host / f"{name}.py").write_text(textwrap.dedent(text))
    program = textwrap.dedent(PROGRAM.format(apps=apps))

    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{program}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.stdout.split() == ["ThingAdmin", "EntityAdmin"], done.stderr


def test_a_host_may_choose_its_own_columns(admin_client, tenant, rf, admin_user):
    class TaskAdmin(EntityAdmin):
        list_display = ["__str__", "version"]
        multiline = ["channel"]

    request = rf.get("/")
    request.user = admin_user

    assert TaskAdmin(Task, admin.site).get_list_display(request) == ["__str__", "version"]
