import io
import json
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from agentstore.strategies import StrategyStore
from agentstore.strategies.models import Strategy
from agentstore.strategies.terms import TOKENIZER_VERSION

pytestmark = pytest.mark.django_db


def run(*args, **options):
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(*args, stdout=out, stderr=err, **options)
    except CommandError as error:
        return out.getvalue(), f"{err.getvalue()}{error}"
    return out.getvalue(), err.getvalue()


@pytest.fixture
def seed_file(tmp_path):
    def write(content):
        path = tmp_path / "seed.json"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return str(path)

    return write


ENTRIES = [
    {"id": "one", "problem": "extract tables", "strategy": "a"},
    {"problem": "merge cells", "strategy": "b"},
]


def test_a_seed_is_written_and_a_replay_changes_nothing(tenant, seed_file):
    path = seed_file(ENTRIES)

    first, _ = run("agentstore_seed", path, tenant=tenant)
    before = list(Strategy.objects.filter(tenant=tenant).values())
    again, _ = run("agentstore_seed", path, tenant=tenant)

    assert "2 strategies seeded, 2 of them new" in first and "0 of them new" in again
    assert list(Strategy.objects.filter(tenant=tenant).values()) == before


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(tenant, seed_file):
    out, _ = run("agentstore_seed", seed_file(ENTRIES), tenant=tenant, dry_run=True)

    assert "2 new, 0 stored already" in out
    assert not Strategy.objects.filter(tenant=tenant).exists()


def test_every_problem_is_told_by_number_and_nothing_is_written(tenant, seed_file):
    _, err = run(
        "agentstore_seed",
        seed_file([*ENTRIES, {"problem": "x"}, {"problem": "p", "strategy": "s", "confidence": 9}]),
        tenant=tenant,
    )

    assert "entry 3" in err and "entry 4" in err and "Nothing was written" in err
    assert not Strategy.objects.filter(tenant=tenant).exists()


def test_a_problem_of_a_whole_entry_or_file_names_no_field(tenant, seed_file, settings):
    settings.AGENTSTORE = {"STRATEGY_CAPACITY": 1}

    _, err = run("agentstore_seed", seed_file([*ENTRIES, 5]), tenant=tenant)

    assert "entry 3: Expected an object, found int." in err
    assert "the file: 2 new strategies, room for 1." in err


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"{}", "list"), (b"[1,", "line 1"), (b"\xff", "UTF-8"), (b'[{"a": NaN}]', "NaN")],
    ids=["object", "cut", "bytes", "nan"],
)
def test_a_file_that_is_no_list_of_objects_is_refused(tenant, seed_file, content, words):
    assert words in run("agentstore_seed", seed_file(content), tenant=tenant)[1]


def test_a_missing_file_is_named(tenant, tmp_path):
    assert "none.json can't be read" in run("agentstore_seed", str(tmp_path / "none.json"), tenant=tenant)[1]


@pytest.mark.parametrize("command", ["agentstore_seed", "agentstore_strategies_export"])
def test_a_tenant_that_is_none_is_refused(seed_file, command):
    assert "white space" in run(command, seed_file([]), tenant=" x")[1]


def test_an_export_gives_back_what_a_seed_takes(tenant, other_tenant, seed_file, tmp_path):
    run("agentstore_seed", seed_file(ENTRIES), tenant=tenant)
    path = tmp_path / "out.json"

    out, _ = run("agentstore_strategies_export", str(path), tenant=tenant)
    run("agentstore_seed", str(path), tenant=other_tenant)

    def contents(name):
        rows = Strategy.objects.filter(tenant=name)
        return sorted(rows.values_list("strategy_id", "problem", "strategy", "confidence", "ts"))

    assert "2 strategies exported" in out
    assert contents(tenant) == contents(other_tenant)


def test_an_export_without_a_file_goes_to_standard_output(tenant):
    StrategyStore(tenant).save(problem="表格 extract", strategy="s")

    out, _ = run("agentstore_strategies_export", tenant=tenant)

    assert json.loads(out)[0]["problem"] == "表格 extract"


def test_an_export_to_a_place_that_is_none_says_so(tenant, tmp_path):
    assert (
        "can't be written"
        in run("agentstore_strategies_export", str(tmp_path / "no" / "x"), tenant=tenant)[1]
    )


def test_reindexing_brings_older_rows_to_the_present_tokenizer(tenant, other_tenant):
    for owner in (tenant, other_tenant):
        StrategyStore(owner).save(problem="extract tables", strategy="s")
    Strategy._base_manager.update(terms=["old"], term_count=7, dedup_key="old", tokenizer_version="0")

    out, _ = run("agentstore_reindex", tenant=tenant)

    row = Strategy.objects.get(tenant=tenant)
    assert (
        row.tokenizer_version == TOKENIZER_VERSION
        and row.terms == ["extract", "tables"]
        and row.term_count == 2
    )
    assert Strategy.objects.get(tenant=other_tenant).tokenizer_version == "0"
    assert "1 strategies of 1 tenants" in out
    assert "0 strategies of 0 tenants" in run("agentstore_reindex", tenant=tenant)[0]


def test_reindexing_makes_one_of_rows_with_the_same_content_and_leaves_spoiled_ones(tenant):
    lessons = StrategyStore(tenant)
    lessons.save(problem="EXTRACT tables", strategy="s", confidence=1, ts="2026-02-01T00:00:00Z")
    best = lessons.save(problem="extract tables two", strategy="s", confidence=3, ts="2026-01-01T00:00:00Z")
    lessons.save(problem="spoiled row", strategy="t", id="spoiled")
    rows = Strategy._base_manager.filter(tenant=tenant)
    rows.filter(strategy_id=best.id).update(problem="Extract  tables")
    rows.filter(strategy_id="spoiled").update(confidence=9.0)
    rows.update(tokenizer_version="0")

    out, _ = run("agentstore_reindex")

    assert {row.strategy_id for row in Strategy.objects.filter(tenant=tenant)} == {best.id, "spoiled"}
    merged = lessons.get(best.id)
    assert (merged.problem, merged.confidence, merged.ts.month) == ("EXTRACT tables", 3, 2)
    assert "1 repeats removed" in out and "1 can't be read" in out
    assert lessons.usage().used == 2


def test_reindexing_refuses_what_is_no_tenant(tenant):
    assert "tenant" in run("agentstore_reindex", tenant="")[1]


def test_reindexing_says_that_the_database_failed(tenant, monkeypatch):
    StrategyStore(tenant).save(problem="extract tables", strategy="s")
    Strategy._base_manager.update(tokenizer_version="0")
    monkeypatch.setattr(
        "agentstore.strategies.reindexing.in_order", Mock(side_effect=OperationalError("gone"))
    )

    assert "try again" in run("agentstore_reindex")[1].lower()
