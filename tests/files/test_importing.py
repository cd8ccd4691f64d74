"""Imports: the plan, the policies, pruning and seeding; all of it or nothing."""

from __future__ import annotations

import pytest

from agentstore import acting
from agentstore.core.errors import AlreadyExists, Conflict, QuotaExceeded, TooLarge, ValidationFailed
from agentstore.files import FileStore
from agentstore.files.importing import Step, fingerprint, import_files


def actions(plan):
    return {step.name: step.action for step in plan}


def now_in(store):
    return {info.name: content for info, content in store.contents()}


@pytest.fixture
def store(files, tenant):
    files.write("same.md", "same", actor="user:7")
    files.write("other.md", "theirs", actor="user:7")
    files.write("more.md", "more", actor="user:7")
    return FileStore(tenant, "bia", actor="user:1", source="import")


WANTED = {"same.md": "same", "other.md": "ours", "new.md": "\nnew\r\n"}


def test_by_default_nothing_is_imported_over_other_content(store):
    before = now_in(store)

    with pytest.raises(AlreadyExists, match=r"1 of 3 files are in the way\. other\.md"):
        import_files(store, WANTED)

    assert now_in(store) == before


def test_skip_leaves_what_is_there(store):
    plan = import_files(store, WANTED, policy="skip")

    assert actions(plan) == {"new.md": "create", "other.md": "skip", "same.md": "same"}
    assert now_in(store) == {
        "same.md": "same",
        "other.md": "theirs",
        "more.md": "more",
        "new.md": "\nnew\r\n",
    }


def test_overwrite_is_a_new_version_and_unchanged_files_make_none(store):
    plan = import_files(store, WANTED, policy="overwrite", reason="moved here")

    assert {step.name: (step.action, step.version) for step in plan} == {
        "new.md": ("create", 1),
        "other.md": ("update", 2),
        "same.md": ("same", 1),
    }
    info = store.info("other.md")
    assert (info.source, info.actor, info.reason) == ("import", "user:1", "moved here")
    assert store.read("other.md", 1) == "theirs"
    assert store.info("same.md").actor == "user:7"
    assert store.versions("same.md") == []
    assert actions(import_files(store, WANTED)) == dict.fromkeys(WANTED, "same")


@pytest.mark.parametrize("policy", ["skip", "overwrite", "seed"])
@pytest.mark.parametrize("prune", [False, True])
def test_a_dry_run_writes_nothing_and_says_what_an_import_does(store, policy, prune):
    before = store.contents()

    dry = import_files(store, WANTED, policy=policy, prune=prune, dry_run=True)

    assert store.contents() == before
    assert actions(import_files(store, WANTED, policy=policy, prune=prune)) == actions(dry)


def test_another_plan_than_the_expected_one_is_not_carried_out(store):
    expected = fingerprint(import_files(store, {"new.md": "x"}, dry_run=True))
    assert expected != fingerprint(import_files(store, {"new.md": "x", "b.md": "y"}, dry_run=True))
    store.write("new.md", "theirs")

    with pytest.raises(Conflict, match="Files changed since the plan was made"):
        import_files(store, {"new.md": "x"}, policy="overwrite", expected=expected)

    assert store.read("new.md") == "theirs"


def test_a_dry_run_lists_the_conflicts(store):
    plan = import_files(store, {**WANTED, "MORE.md": "more"}, dry_run=True)

    assert actions(plan) == {
        "new.md": "create",
        "other.md": "conflict",
        "same.md": "same",
        "MORE.md": "conflict",
    }
    assert "'more.md'" in next(step.why for step in plan if step.name == "MORE.md")


def test_other_files_stay_unless_pruned(store):
    import_files(store, WANTED, policy="overwrite")
    assert store.read("more.md") == "more"

    plan = import_files(store, WANTED, policy="overwrite", prune=True)

    assert actions(plan)["more.md"] == "delete"
    assert sorted(now_in(store)) == sorted(WANTED)
    assert store.undelete("more.md").changed


def test_a_name_that_differs_in_capitals_is_refused_or_skipped(store):
    with pytest.raises(AlreadyExists, match="capitals"):
        import_files(store, {"SAME.md": "same"}, policy="overwrite")

    assert actions(import_files(store, {"SAME.md": "x"}, policy="skip")) == {"SAME.md": "skip"}
    assert actions(import_files(store, {"SAME.md": "x"}, policy="seed")) == {"SAME.md": "keep"}
    assert store.read("same.md") == "same"


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        ({"../x": "x"}, ValidationFailed),
        ({"a.md": None}, ValidationFailed),
        ({"a.md": 5}, ValidationFailed),
        ({"a.md": b"x"}, ValidationFailed),
        ({"a.md": {"content": "x"}}, ValidationFailed),
        ({"a.md": ["x"]}, ValidationFailed),
        ({"a.md": Step(name="a.md", action="create")}, ValidationFailed),
        ({"a.md": "\0"}, ValidationFailed),
        ({"a.md": "\ud800"}, ValidationFailed),
        ({"a.md": "x" * 102_401}, TooLarge),
        ({"a.md": "x", "A.md": "y"}, ValidationFailed),
        ({"ü": "x", "u\u0308": "x"}, ValidationFailed),
    ],
    ids=[
        "name",
        "None",
        "int",
        "bytes",
        "dict",
        "list",
        "object",
        "NUL",
        "surrogate",
        "size",
        "capitals",
        "NFC",
    ],
)
def test_what_may_not_be_stored_is_refused_as_a_whole(store, wanted, error):
    before = now_in(store)

    with pytest.raises(error):
        import_files(store, {"good.md": "x", **wanted}, policy="overwrite")

    assert now_in(store) == before


def test_an_unknown_policy_is_refused(store):
    with pytest.raises(ValidationFailed) as info:
        import_files(store, {}, policy="merge")

    assert info.value.hint == "Valid: fail, skip, overwrite, seed."


def test_an_import_that_does_not_fit_is_refused_before_it_begins(store, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_FILES": 4, "FILE_MAX_AGENT_BYTES": 30}
    before = now_in(store)

    for wanted in ({"a": "", "b": ""}, {"a": "x" * 17}):
        with pytest.raises(QuotaExceeded):
            import_files(store, wanted)
        with pytest.raises(QuotaExceeded):
            import_files(store, wanted, dry_run=True)

    assert now_in(store) == before


def test_what_fits_in_the_end_fits_at_every_step(store, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_FILES": 3, "FILE_MAX_AGENT_BYTES": 14}

    import_files(store, {"a.md": "x" * 10, "same.md": "s", "other.md": "tt"}, policy="overwrite", prune=True)

    assert store.usage() == (3, 13)


def test_a_change_in_the_middle_undoes_all(store, monkeypatch):
    """Another writer comes between the plan and the write."""
    before = now_in(store)
    original = FileStore.write

    def write(self, name, content, **options):
        if name == "other.md" and options.get("expected_version"):
            original(FileStore(self.tenant, self.agent), name, "quick")
        return original(self, name, content, **options)

    monkeypatch.setattr(FileStore, "write", write)

    with pytest.raises(Conflict):
        import_files(store, WANTED, policy="overwrite", prune=True)

    assert now_in(store) == before


@pytest.mark.parametrize("there", [True, False], ids=["born", "gone"])
def test_a_file_born_or_gone_in_the_middle_is_a_conflict(store, monkeypatch, there):
    original = FileStore.write

    def write(self, name, content, **options):
        rival = FileStore(self.tenant, self.agent)
        if there and name == "new.md":
            original(rival, name, "quick")
        elif not there and name == "other.md":
            rival.delete(name)
        return original(self, name, content, **options)

    monkeypatch.setattr(FileStore, "write", write)

    with pytest.raises(Conflict, match="changed while it was imported"):
        import_files(store, WANTED, policy="overwrite")


# --- seeding ------------------------------------------------------------------------------------


@pytest.fixture
def seeded(files, tenant):
    """A store that was seeded with three files."""
    store = FileStore(tenant, "bia", actor="deploy", source="import")
    import_files(store, {"a.md": "a1", "b.md": "b1", "c.md": "c1"}, policy="seed")
    return store


NEXT = {"a.md": "a2", "b.md": "b2", "c.md": "c2"}


def test_a_seed_updates_what_nobody_changed(seeded):
    plan = import_files(seeded, NEXT, policy="seed")

    assert set(actions(plan).values()) == {"update"}
    assert now_in(seeded) == NEXT
    assert set(actions(import_files(seeded, NEXT, policy="seed")).values()) == {"same"}


def test_a_seed_never_overwrites_what_a_person_changed(seeded, files):
    files.write("a.md", "by hand", actor="user:7")
    files.write("b.md", "by hand")
    import_files(seeded, NEXT, policy="seed")
    files.restore("b.md", 1, actor="user:8")

    plan = import_files(seeded, {**NEXT, "a.md": "a3", "b.md": "b3"}, policy="seed")

    assert actions(plan) == {"a.md": "keep", "b.md": "keep", "c.md": "same"}
    assert {step.name: step.why for step in plan}["a.md"] == (
        "It was changed by user:7 (version 2), not by a seed."
    )
    assert now_in(seeded) == {"a.md": "by hand", "b.md": "b1", "c.md": "c2"}


@pytest.mark.parametrize("seed", [42, 1, "7", {"model": 3}], ids=str)
def test_a_run_that_notes_the_seed_of_its_model_is_no_seed_of_files(seeded, files, seed):
    with acting(actor="agent:bia", context={"seed": seed}):
        files.write("a.md", "learnt")
        files.delete("b.md")

    plan = import_files(seeded, NEXT, policy="seed", prune=True)

    assert actions(plan) == {"a.md": "keep", "b.md": "keep", "c.md": "update"}
    assert seeded.read("a.md") == "learnt"


def test_an_import_by_a_person_is_a_change_by_a_person(seeded):
    import_files(seeded, {"a.md": "imported"}, policy="overwrite")

    assert actions(import_files(seeded, NEXT, policy="seed"))["a.md"] == "keep"


def test_a_seed_does_not_bring_back_what_a_person_deleted(seeded, files):
    files.delete("a.md", actor="user:7")

    plan = import_files(seeded, NEXT, policy="seed")

    assert actions(plan)["a.md"] == "keep"
    assert "deleted by user:7" in plan[0].why
    assert seeded.read("a.md") is None


def test_a_seed_prunes_what_only_seeds_wrote(seeded, files):
    files.write("mine.md", "x", actor="user:7")
    files.write("b.md", "by hand", actor="user:7")

    plan = import_files(seeded, {"a.md": "a1"}, policy="seed", prune=True)

    assert actions(plan) == {"a.md": "same", "b.md": "keep", "c.md": "delete", "mine.md": "keep"}
    assert actions(import_files(seeded, {"c.md": "c9"}, policy="seed")) == {"c.md": "create"}


def test_a_seed_keeps_the_context_it_was_given(seeded):
    import_files(seeded, NEXT, policy="seed", context={"release": "1.2"})

    assert seeded.info("a.md").context == {"release": "1.2", "seed": True}
