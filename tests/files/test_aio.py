"""The async twins do what the methods do."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from agentstore.core.errors import Conflict
from agentstore.core.values import now
from agentstore.files import FileStore
from agentstore.files.aio import AsyncFiles

#: What computes nothing from the database, or is the twin's own business.
WITHOUT_TWIN = {"not_found", "no_version", "need_content", "with_source"}


@pytest.fixture
def store(transactional_db, tenant, actor):
    return FileStore(tenant, "bia", actor=actor)


def test_every_method_has_a_twin_with_the_same_parameters():
    public = {
        name: method
        for name, method in inspect.getmembers(FileStore, inspect.isfunction)
        if not name.startswith("_") and name not in WITHOUT_TWIN and name not in vars(AsyncFiles)
    }

    for name, method in public.items():
        twin = getattr(FileStore, f"a{name}")
        assert inspect.iscoroutinefunction(twin)
        assert inspect.signature(twin).parameters == inspect.signature(method).parameters, name
    assert len(public) == len([name for name in vars(AsyncFiles) if not name.startswith("_")])


def test_the_twins_do_the_same(store):
    async def story():
        born = now()
        assert (await store.awrite("a.md", "one", create_only=True)).version == 1
        await store.awrite("a.md", "two", expected_version=1, reason="better")
        assert await store.aread("a.md") == "two"
        assert await store.aread("a.md", 1) == "one"
        assert (await store.ainfo("a.md")).reason == "better"
        assert [info.name for info in await store.alist("a")] == ["a.md"]
        assert await store.acontents() == [(await store.ainfo("a.md"), "two")]
        assert await store.ausage() == (1, 3)
        assert (await store.areplace("a.md", "two", "three")).version == 3
        assert [version.version for version in await store.aversions("a.md")] == [2, 1]
        assert (await store.adiff("a.md", 1)).added == 1
        assert (await store.arestore("a.md", 1, reason="back")).version == 4
        await store.aredact("a.md", 2, "secret", actor="user:1")
        assert (await store.arename("a.md", "b.md")).version == 5
        assert (await store.aassemble(["b.md"])).text == "one"
        assert await store.adelete("b.md", expected_version=5)
        assert [gone.name for gone in await store.adeleted()] == ["b.md"]
        assert (await store.aundelete("b.md")).version == 6
        assert len(await store.achanges(born)) == 7
        assert (await store.arestore_as_of(now(), dry_run=True))[0].action == "same"
        with pytest.raises(Conflict):
            await store.awrite("b.md", "x", expected_version=1)

    asyncio.run(story())


def test_twins_run_beside_each_other(store):
    async def story():
        return await asyncio.gather(*(store.awrite(f"{number}.md", "x") for number in range(8)))

    assert [info.version for info in asyncio.run(story())] == [1] * 8
    assert len(store.list()) == 8
