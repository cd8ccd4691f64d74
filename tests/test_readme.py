"""What the README shows is what happens: its code runs, its tables are complete, its commands exist."""

from __future__ import annotations

import ast
import doctest
import importlib
import json
import re
import shlex
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser, Group
from django.core.management import call_command, get_commands, load_command_class
from django.db import connection
from django.db.migrations.state import ProjectState

from agentstore.conf import Settings
from agentstore.core.errors import PermissionDenied
from project import settings as demo_settings
from project.demo.airports import airports
from project.desk.models import Reminder
from project.reference.models import Airport
from tests.readme import README, blocks

TEXT = README.read_text(encoding="utf-8")


def test_the_tour_prints_what_it_says(db):
    source = "".join(block.text for block in blocks("pycon"))
    tour = doctest.DocTestParser().get_doctest(source, {}, "README", str(README), 0)
    problems: list[str] = []

    result = doctest.DocTestRunner(verbose=False).run(tour, out=problems.append)

    assert result.attempted > 20
    assert result.failed == 0, "".join(problems)


def test_every_block_is_of_a_kind_that_some_test_runs():
    assert {block.language for block in blocks()} == {"console", "http", "pycon", "python"}


def test_every_python_block_compiles():
    for block in blocks("python"):
        ast.parse(block.text)


def test_the_excerpt_is_the_demos_own_code():
    (excerpt,) = (block for block in blocks("python") if not block.run)
    source = (README.parent / "project/desk/models.py").read_text()

    for line in excerpt.text.splitlines():
        assert line in source


# --- REST ---------------------------------------------------------------------------------------


def exchanges():
    """Yield each request of the page with the response below it."""
    pairs = blocks("http")
    assert len(pairs) % 2 == 0
    return zip(pairs[::2], pairs[1::2], strict=True)


def parse(text):
    """Return first line, headers and body of a request or response."""
    head, _, body = text.partition("\n\n")
    first, *lines = head.splitlines()
    return first, dict(line.split(": ", 1) for line in lines), json.loads(body) if body.strip() else None


def matches(shown, found):
    """Tell whether ``found`` is what the page shows; "..." stands for any text."""
    if isinstance(shown, dict):
        return (
            isinstance(found, dict)
            and shown.keys() <= found.keys()
            and all(matches(v, found[k]) for k, v in shown.items())
        )
    if isinstance(shown, list):
        return len(shown) == len(found) and all(map(matches, shown, found))
    return isinstance(found, str) if shown == "..." else shown == found


def test_rest_answers_what_the_page_says(api_client):
    row_id = ""
    for request, response in exchanges():
        line, headers, body = parse(request.text)
        method, path = line.split()
        status, shown_headers, shown = parse(response.text)

        found = api_client.generic(
            method,
            path.replace("ID", row_id),
            json.dumps(body) if body is not None else "",
            content_type="application/json",
            headers=headers,
        )

        assert found.status_code == int(status.split()[1]), found.content
        assert matches(shown, found.json()), found.json()
        assert {name: found.headers.get(name) for name in shown_headers} == shown_headers
        row_id = row_id or found.json()["id"]


# --- tables and commands ------------------------------------------------------------------------


def rows_of(section):
    """Return the rows of a section's tables as lists of cells, without the headers."""
    _, _, text = TEXT.partition(f"\n## {section}\n")
    lines = text.partition("\n## ")[0].splitlines()
    return [[c.strip() for c in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def test_the_settings_table_has_every_setting_with_its_default():
    shown = {row[0].strip("`"): row[-1].strip("`") for row in rows_of("Settings") if row[0] != "key"}

    defaults = {name: vars(Settings)[name].default for name in Settings.names()}
    assert {name: ast.literal_eval(value) for name, value in shown.items()} == defaults


def test_every_method_of_the_table_exists():
    cells = [row[0] for row in rows_of("Entities") if "(" in row[0]]
    names = [name for cell in cells for name in re.findall(r"`(?:\w+\.)?(\w+)\(", cell)]

    assert len(names) > 10
    for name in names:
        assert callable(getattr(Reminder.store("acme"), name, None) or getattr(Reminder, name))


def commands():
    """Return every ``manage.py`` call of the page, as lists of words."""
    shown = [line[2:] for block in blocks("console") for line in block.text.splitlines()]
    inline = re.findall(r"`((?:python manage\.py |agentstore_)[^`]+)`", TEXT)
    words = [shlex.split(line.removeprefix("python manage.py ")) for line in shown + inline]
    return [line for line in words if line[0] in get_commands() or line[0].startswith("agentstore_")]


def test_every_command_of_the_page_exists_and_takes_its_options():
    names = {line[0] for line in commands()}

    assert {
        "demo",
        "agentstore_import",
        "agentstore_export",
        "agentstore_doctor",
        "agentstore_purge",
    } <= names
    for name, *words in commands():
        parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
        known = {option for action in parser._actions for option in action.option_strings}
        assert {word for word in words if word.startswith("--")} <= known


def test_the_commands_for_files_run(db, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = list(airports()[0])
    lines = [columns, *([str(row[name]) for name in columns] for row in airports())]
    Path("airports.csv").write_text("\n".join(",".join(line) for line in lines))

    for line in blocks("console", section="Commands")[0].text.splitlines():
        _, _, name, *words = shlex.split(line[2:])
        call_command(name, *words, stdout=StringIO(), stderr=StringIO())

    assert Airport.store("acme").count() == len(airports())


def test_every_option_of_the_demo_is_told():
    parser = load_command_class("project", "demo").create_parser("manage.py", "demo")

    assert {"--port", "--no-serve", "--reset"} <= {o for a in parser._actions for o in a.option_strings}
    for option in ("--port", "--no-serve", "--reset"):
        assert f"`{option}" in TEXT


# --- examples -----------------------------------------------------------------------------------


def example(file):
    """Return the namespace of the block that belongs to ``file``."""
    (block,) = (block for block in blocks("python") if block.file == file)
    namespace: dict = {"__name__": "example"}
    exec(compile(block.text, file, "exec"), namespace)  # noqa: S102 - the page's own code
    return namespace


@pytest.fixture
def access():
    return example("shop/access.py")["CompanyAccess"]()


@pytest.fixture
def colleague(user):
    for name in ("company:brightquill", "company:kesterly"):
        user.groups.add(Group.objects.create(name=name))
    return user


def test_the_access_example_gives_everybody_their_company(access, colleague):
    assert access.tenant(colleague, "entities.purchases") == "company:brightquill"
    assert access.tenant(colleague, "entities.purchases", "company:kesterly") == "company:kesterly"
    assert access.admin_tenants(colleague) == {"company:brightquill", "company:kesterly"}
    assert access.label("company:kesterly") == "Kesterly"


def test_the_access_example_refuses_other_companies_and_nobody(access, colleague, staff):
    for who, wanted in ((colleague, "company:acme"), (staff, None), (AnonymousUser(), None)):
        with pytest.raises(PermissionDenied):
            access.tenant(who, "entities.purchases", wanted)


def test_the_access_example_lets_holders_of_the_permission_delete(access, colleague, admin_user):
    assert access.allows(colleague, "company:brightquill", "entities.purchases", "change")
    assert not access.allows(colleague, "company:brightquill", "entities.purchases", "delete")
    assert access.allows(admin_user, "company:brightquill", "entities.purchases", "delete")


def test_the_options_for_postgresql_are_those_that_the_demo_uses():
    (block,) = blocks("python", section="PostgreSQL")[:1]
    namespace: dict = {"DATABASES": {"default": {}}}

    exec(block.text, namespace)  # noqa: S102 - the page's own code

    assert namespace["DATABASES"]["default"]["OPTIONS"] == demo_settings.POSTGRES_OPTIONS


@pytest.mark.postgres_only
def test_the_example_of_a_concurrent_index_runs(transactional_db):
    migration = example("shop/migrations/0002_index_express.py")["Migration"]
    (operation,) = migration.operations
    operation.model_name = "task"
    operation.index.field, operation.index.kind = "score", "number"
    state = ProjectState.from_apps(importlib.import_module("django.apps").apps)
    after = state.clone()
    operation.state_forwards("testapp", after)

    with connection.schema_editor(atomic=migration.atomic) as editor:
        operation.database_forwards("testapp", editor, state, after)
    names = connection.introspection.get_constraints(connection.cursor(), "testapp_task")
    with connection.schema_editor(atomic=migration.atomic) as editor:
        operation.database_backwards("testapp", editor, after, state)

    assert operation.index.name in names
