"""``acting()``: who acts and why, for every store call inside the block; what is nearer wins."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agentstore import acting
from agentstore.core.context import Acting, checked, current, resolve
from agentstore.core.errors import TooLarge, ValidationFailed


def test_nobody_acts_outside_any_block():
    assert current() == Acting(actor="", reason="", context={})


def test_a_block_names_actor_reason_and_context():
    with acting(actor="agent:bia", reason="cleanup", context={"run": 7}) as who:
        assert who == current() == Acting(actor="agent:bia", reason="cleanup", context={"run": 7})

    assert current() == Acting()


def test_an_inner_block_keeps_what_it_does_not_give():
    with acting(actor="agent:bia", reason="cleanup"), acting(reason="tests", context={"run": 1}):
        assert current() == Acting(actor="agent:bia", reason="tests", context={"run": 1})


def test_an_inner_block_can_take_back():
    with acting(actor="agent:bia", context={"run": 1}), acting(actor="", context={}):
        assert current() == Acting()


def test_a_block_ends_with_an_error():
    with pytest.raises(RuntimeError), acting(actor="agent:bia"):
        raise RuntimeError

    assert current().actor == ""


@pytest.mark.parametrize(
    ("call", "store", "ambient", "expected"),
    [
        ("call", "store", "ambient", "call"),
        (None, "store", "ambient", "store"),
        (None, "", "ambient", "ambient"),
        ("", "store", "ambient", ""),
        (None, "", "", ""),
    ],
)
@pytest.mark.parametrize("name", ["actor", "reason"])
def test_the_call_beats_the_store_which_beats_the_block(name, call, store, ambient, expected):
    with acting(**{name: ambient}):
        found = resolve(**{name: call}, default=checked(**{name: store}))

    assert getattr(found, name) == expected


def test_context_has_the_same_order_and_is_not_merged():
    with acting(context={"ambient": 1}):
        assert resolve().context == {"ambient": 1}
        assert resolve(default=checked(context={"store": 1})).context == {"store": 1}
        assert resolve(context={"call": 1}, default=checked(context={"store": 1})).context == {"call": 1}


@pytest.mark.parametrize("name", ["actor", "reason", "context"])
@pytest.mark.parametrize("value", [5, "a\0", "\ud800", {1: 2}, {"a": float("nan")}], ids=repr)
def test_what_can_not_be_stored_is_refused_at_once(name, value):
    with pytest.raises(ValidationFailed), acting(**{name: value}):
        raise AssertionError("the block must not begin")


@pytest.mark.parametrize("context", [[1], "run", 5])
def test_a_context_that_is_no_object_is_refused(context):
    with pytest.raises(ValidationFailed, match="context"), acting(context=context):
        raise AssertionError("the block must not begin")


def test_lengths_are_limited():
    with pytest.raises(ValidationFailed, match="255"), acting(actor="x" * 256):
        pass
    with pytest.raises(ValidationFailed, match="2,000"), acting(reason="x" * 2001):
        pass
    with pytest.raises(TooLarge, match="8,192"), acting(context={"a": "x" * 8192}):
        pass


def test_a_refused_block_leaves_the_outer_one():
    with acting(actor="agent:bia"):
        with pytest.raises(ValidationFailed), acting(actor=5):
            pass
        assert current().actor == "agent:bia"


def test_threads_do_not_share_a_block():
    seen = []

    with acting(actor="agent:bia"):
        thread = threading.Thread(target=lambda: seen.append(current().actor))
        thread.start()
        thread.join()

    assert seen == [""]


def test_tasks_act_for_themselves():
    async def work(name):
        with acting(actor=name):
            await asyncio.sleep(0)
            return current().actor

    async def both():
        return await asyncio.gather(work("a"), work("b"))

    assert asyncio.run(both()) == ["a", "b"]
