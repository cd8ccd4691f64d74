"""Transcripts in the place of a model, and what ``manage.py play`` says when one can't be played."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import date
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from project.desk.models import Note, Order
from project.examples.scripted import BOOKING, Transcript, play

ROOT = Path(__file__).resolve().parents[2]
TODAY = date(2027, 1, 30)


def transcript(tenant, *blocks, **turn):
    turns = [{"role": "assistant", **turn, "content": [block]} for block in blocks]
    return Transcript(tenant=tenant, agent="bia", writable=[], turns=turns)


def use(name, arguments, call_id="a"):
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def test_the_demos_transcript_plays_in_a_database_without_rows(db, tenant):
    loaded = Transcript.load(BOOKING)

    steps = list(play(loaded, run="r", today=TODAY))

    errors = [step.result["error"]["code"] for step in steps if step.result and "error" in step.result]
    assert errors == ["validation", "conflict"]
    assert Order.store(loaded.tenant).count() == 1


def test_references_take_what_earlier_results_have(db, tenant):
    steps = play(
        transcript(
            tenant,
            use("notes_create", {"data": {"title": "one", "tags": ["x", "y"]}}),
            use("notes_get", {"id": "{{a.row.id}}"}, "b"),
            use("notes_create", {"data": {"title": "{{b.row.data.tags.1}} at {{day+3}}"}}, "c"),
            use("notes_delete", {"id": "{{a.row.id}}", "expected_version": "{{b.row.version}}"}, "d"),
        ),
        run="r",
        today=TODAY,
    )

    *_, made, gone = [step.result for step in steps]
    assert made["row"]["data"]["title"] == "y at 2027-02-02"
    assert gone == {"deleted": True}


def test_one_run_makes_its_rows_once_and_another_run_its_own(db, tenant):
    script = transcript(tenant, use("notes_create", {"data": {"title": "one"}}))

    for run in ("r", "r", "s"):
        list(play(script, run=run, today=TODAY))

    assert Note.store(tenant).count() == 2


def test_each_turn_acts_for_whom_it_names(db, tenant):
    create = use("notes_create", {"data": {"title": "one"}})

    list(play(transcript(tenant, create, actor="user:tobi"), run="r", today=TODAY))

    (note,) = Note.store(tenant).query()
    assert Note.store(tenant).history(note.id)[0].actor == "user:tobi"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("no json", "Expecting value"),
        ("[]", "transcript"),
        ('{"tenant": "acme"}', "missing"),
    ],
)
def test_a_file_that_is_no_transcript_is_told(db, tmp_path, content, problem):
    path = tmp_path / "t.json"
    path.write_text(content)

    with pytest.raises(CommandError, match=f"t.json.*{problem}"):
        call_command("play", str(path), stdout=StringIO())


def test_a_reference_to_nothing_is_told(db, tenant, tmp_path):
    path = tmp_path / "t.json"
    turns = transcript(tenant, use("notes_get", {"id": "{{z.row.id}}"})).turns
    path.write_text(json.dumps({"tenant": tenant, "agent": "bia", "writable": [], "turns": turns}))

    with pytest.raises(CommandError, match=r"no earlier result has 'z\.row\.id'"):
        call_command("play", str(path), stdout=StringIO())


def test_without_tables_it_says_what_to_run_first(tmp_path):
    environ = {**os.environ, "DATABASE_URL": f"sqlite:///{tmp_path}/empty.sqlite3"}
    environ["DJANGO_SETTINGS_MODULE"] = "project.settings"

    done = subprocess.run(
        [sys.executable, "manage.py", "play"], cwd=ROOT, env=environ, capture_output=True, text=True
    )

    assert done.returncode == 1
    assert "Run 'python manage.py demo --no-serve' first." in done.stderr
    assert "Traceback" not in done.stderr


def test_the_readme_tells_of_every_example():
    modules = {path.name for path in BOOKING.parent.glob("*_example.py")}

    told = set(re.findall(r"`(\w+_example\.py)`", (ROOT / "README.md").read_text("utf-8")))

    assert len(modules) == 4 and told == modules
