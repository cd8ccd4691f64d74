"""What is sent again and what is not, when the way to the server or the server fails for a while."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from agentstore.core.errors import AgentStoreError, Conflict, NotFound, StorageFailed
from agentstore.core.models import IdempotencyKey
from agentstore.remote import RemoteFailed
from agentstore.remote.retrying import retry_after
from tests.remote.faults import ID, Faulty, answering, row

LOST = [httpx.ReadError, httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.WriteError, httpx.WriteTimeout]
NEVER_SENT = [httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError]
PASSING = [429, 502, 503, 504]


# --- creates --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LOST)
def test_a_create_whose_answer_is_lost_makes_one_row(over, local, kind):
    store, transport = over(Faulty.answer_lost(kind), Faulty.answer_lost(kind))

    made = store.create({"text": "a"})

    assert [row.id for row in local.query()] == [made.id]
    assert made.changed
    assert len(transport.seen) == 3
    assert len({request.headers["Idempotency-Key"] for request in transport.seen}) == 1


def test_create_many_whose_answer_is_lost_makes_its_rows_once(over, local):
    store, _ = over(Faulty.answer_lost())

    made = store.create_many([{"text": "a"}, {"text": "b"}])

    assert local.count() == 2
    assert [row.data.text for row in made] == ["a", "b"]
    assert all(row.changed for row in made)


def test_every_create_has_a_key_of_its_own(over, local):
    store, transport = over()

    assert store.create({"text": "a"}).id != store.create({"text": "a"}).id
    store.create_many([{"text": "a"}])

    assert len({request.headers["Idempotency-Key"] for request in transport.seen}) == 3
    assert IdempotencyKey.objects.count() == 3


def test_a_key_that_the_caller_gave_is_sent_and_a_repetition_is_told(over, local):
    store, _ = over()
    made = store.create({"text": "a"}, idempotency_key="mine")

    again = store.create({"text": "a"}, idempotency_key="mine")

    assert (again.id, again.changed) == (made.id, False)
    assert local.create({"text": "a"}, idempotency_key="mine").id == made.id


def test_a_create_that_never_arrives_is_told_and_makes_nothing(over, local):
    store, transport = over(*[Faulty.never_sent()] * 3)

    with pytest.raises(RemoteFailed) as info:
        store.create({"text": "a"})

    assert (info.value.retryable, info.value.maybe_done) == (True, False)
    assert len(transport.seen) == 3
    assert local.count() == 0


# --- updates and replaces -------------------------------------------------------------------


@pytest.mark.parametrize("kind", LOST)
@pytest.mark.parametrize("write", ["update", "replace"])
def test_a_write_without_a_version_is_never_sent_twice_when_it_may_have_happened(over, local, write, kind):
    """Meanwhile somebody else may have changed the row: a second time would undo that."""
    made = local.create({"text": "a"})
    store, transport = over(Faulty.answer_lost(kind))

    with pytest.raises(RemoteFailed) as info:
        getattr(store, write)(made.id, {"text": "b"})

    assert info.value.maybe_done
    assert "read before you repeat it" in info.value.hint
    assert len(transport.seen) == 1
    assert local.get(made.id).data.text == "b"


@pytest.mark.parametrize("kind", NEVER_SENT)
@pytest.mark.parametrize("write", ["update", "replace"])
def test_a_write_that_was_never_sent_is_sent_again(over, local, write, kind):
    made = local.create({"text": "a"})
    store, _ = over(Faulty.never_sent(kind), Faulty.never_sent(kind))

    changed = getattr(store, write)(made.id, {"text": "b"})

    assert (changed.version, changed.changed) == (2, True)


def test_a_write_that_may_have_happened_is_not_sent_again_though_the_next_attempt_never_arrived(over, local):
    made = local.create({"text": "a"})
    store, transport = over(Faulty.never_sent(), Faulty.answer_lost())

    with pytest.raises(RemoteFailed) as info:
        store.update(made.id, {"text": "b"})

    assert info.value.maybe_done
    assert len(transport.seen) == 2


@pytest.mark.parametrize("write", ["update", "replace"])
def test_a_write_with_a_version_cannot_happen_twice_and_is_sent_again(over, local, write):
    made = local.create({"text": "a"})
    store, transport = over(Faulty.answer_lost())

    with pytest.raises(Conflict, match="is at version 2, not 1") as info:
        getattr(store, write)(made.id, {"text": "b"}, expected_version=1)

    assert info.value.hint.startswith("An earlier attempt may have made that version itself.")
    assert info.value.current_version == 2
    assert len(transport.seen) == 2
    assert len(local.history(made.id)) == 2


def test_a_write_with_a_version_that_did_not_arrive_the_first_time_goes_through(over, local):
    made = local.create({"text": "a"})
    store, _ = over(Faulty.answer(502))

    assert store.update(made.id, {"text": "b"}, expected_version=1).version == 2


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_write_that_a_proxy_gave_up_on_is_not_sent_again(over, local, status):
    made = local.create({"text": "a"})
    store, transport = over(Faulty.answer(status))

    with pytest.raises(RemoteFailed) as info:
        store.update(made.id, {"text": "b"})

    assert (info.value.maybe_done, info.value.retryable) == (True, status != 500)
    assert len(transport.seen) == 1


def test_a_write_that_was_throttled_did_not_happen_and_is_sent_again(over, local, waits):
    made = local.create({"text": "a"})
    throttled = {"code": "throttled", "detail": "Request was throttled."}
    store, _ = over(Faulty.answer(429, throttled, Retry_After="3"))

    assert store.update(made.id, {"text": "b"}).version == 2
    assert 3 <= waits[0] < 4


# --- delete and undelete --------------------------------------------------------------------


@pytest.mark.parametrize("version", [None, 1])
def test_a_delete_whose_answer_is_lost_is_true(over, local, version):
    made = local.create({"text": "a"})
    store, _ = over(Faulty.answer_lost(), Faulty.answer_lost())

    assert store.delete(made.id, expected_version=version) is True
    assert local.get(made.id) is None


def test_a_delete_of_nothing_is_false_however_often_it_was_sent(over, local):
    store, _ = over(Faulty.answer_lost())

    assert store.delete(ID) is False


def test_a_delete_whose_row_somebody_brought_back_meanwhile_deletes_it_again(over, local):
    made = local.create({"text": "a"})
    store, _ = over(Faulty.meanwhile(lambda: local.undelete(made.id), Faulty.answer_lost()))

    assert store.delete(made.id) is True


def test_an_undelete_whose_answer_is_lost_has_changed_the_row(over, local):
    made = local.create({"text": "a"})
    local.delete(made.id)
    store, _ = over(Faulty.answer_lost())

    assert store.undelete(made.id).changed is True
    assert store.undelete(made.id).changed is False


def test_an_undelete_of_a_live_row_has_not_changed_it_however_often_it_was_sent(over, local):
    made = local.create({"text": "a"})
    store, _ = over(Faulty.answer_lost())

    assert store.undelete(made.id).changed is False


# --- reads ----------------------------------------------------------------------------------

READS = {
    "get": lambda store: store.get(ID),
    "get_deleted": lambda store: store.get_deleted(ID),
    "query": lambda store: store.query({"text": "a"}),
    "iterate": lambda store: list(store.iterate()),
    "count": lambda store: store.count(),
    "usage": lambda store: store.usage(),
    "history": lambda store: store.history(ID),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_read_is_sent_again_whatever_failed(over, local, read):
    store, transport = over(Faulty.answer_lost(), Faulty.never_sent())

    read(store)

    assert len(transport.seen) == 3


@pytest.mark.parametrize("status", PASSING)
def test_a_read_is_sent_again_when_a_proxy_gave_up(over, local, status):
    store, transport = over(Faulty.answer(status), Faulty.answer(status))

    assert store.count() == 0
    assert len(transport.seen) == 3


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_read_that_fails_has_done_nothing(over, local, read):
    store, _ = over(*[Faulty.answer_lost()] * 3)

    with pytest.raises(RemoteFailed) as info:
        read(store)

    assert info.value.retryable
    assert not info.value.maybe_done


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 500])
def test_what_will_not_pass_is_not_tried_again(over, local, status):
    store, transport = over(Faulty.answer(status))

    with pytest.raises(AgentStoreError):
        store.count()

    assert len(transport.seen) == 1


# --- how often and how long -----------------------------------------------------------------


@pytest.mark.parametrize("retries", [0, 1, 5])
def test_attempts_are_counted(waits, retries):
    seen = []

    def answer(request):
        seen.append(request)
        raise httpx.ConnectError("no way", request=request)

    with pytest.raises(RemoteFailed):
        answering(answer, retries=retries).store("tasks").count()

    assert (len(seen), len(waits)) == (retries + 1, retries)


def test_waits_grow_are_spread_and_bounded(waits):
    def answer(request):
        raise httpx.ReadError("died", request=request)

    for _ in range(20):
        with pytest.raises(RemoteFailed):
            answering(answer, retries=9).store("tasks").count()

    for number in range(9):
        longest = min(0.1 * 2**number, 5.0)
        found = waits[number::9]
        assert all(longest / 2 <= wait <= longest for wait in found)
        assert len(set(found)) > 1


def test_no_wait_is_longer_than_allowed(waits):
    def answer(request):
        return httpx.Response(503)

    with pytest.raises(RemoteFailed):
        answering(answer, retries=9, max_wait=0.2).store("tasks").count()

    assert max(waits) <= 0.2


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honoured(waits, status):
    answers = [httpx.Response(status, headers={"Retry-After": "7"}), httpx.Response(200, json={"count": 3})]

    assert answering(lambda request: answers.pop(0)).store("tasks").count() == 3
    assert 7 <= waits[0] < 8


@pytest.mark.parametrize(
    ("asked", "shown"), [("21", "in 21 s"), ("86400", "in 86400 s"), ("9" * 400, "later")]
)
def test_who_asks_for_a_longer_wait_than_allowed_is_told_to_the_caller(waits, asked, shown):
    client = answering(lambda request: httpx.Response(429, headers={"Retry-After": asked}), max_wait=20)

    with pytest.raises(RemoteFailed) as info:
        client.store("tasks").count()

    assert info.value.retryable
    assert shown in info.value.hint
    assert waits == []


@pytest.mark.parametrize(
    ("header", "seconds"),
    [(None, None), ("5", 5.0), (" 0 ", 0.0), ("soon", None), ("", None), ("-5", None), ("٣", None)],
)
def test_a_retry_after_is_seconds(header, seconds):
    assert retry_after(header) == seconds


def test_a_retry_after_may_be_a_date():
    later, before = datetime.now(UTC) + timedelta(seconds=100), datetime.now(UTC) - timedelta(days=1)

    assert 90 < retry_after(format_datetime(later, usegmt=True)) <= 100
    assert retry_after(format_datetime(before, usegmt=True)) == 0
    assert 90 < retry_after(later.strftime("%a, %d %b %Y %H:%M:%S")) <= 100


def test_a_database_that_was_busy_is_asked_again_unless_it_said_not_to(waits):
    body = {"code": "storage", "detail": "The database did not carry out the operation."}
    answers = [httpx.Response(503, json=body, headers={"Retry-After": "1"}), httpx.Response(503, json=body)]

    with pytest.raises(StorageFailed) as info:
        answering(lambda request: answers.pop(0)).store("tasks").count()

    assert type(info.value) is StorageFailed
    assert not info.value.retryable
    assert len(waits) == 1


def test_what_cannot_be_sent_is_not_tried_again(waits):
    def answer(request):
        raise httpx.LocalProtocolError("no request", request=request)

    with pytest.raises(RemoteFailed) as info:
        answering(answer).store("tasks").count()

    assert not info.value.retryable
    assert waits == []


def test_an_answer_that_cannot_be_unpacked_is_a_failure(waits):
    def answer(request):
        return httpx.Response(200, content=b"no gzip", headers={"Content-Encoding": "gzip"})

    with pytest.raises(RemoteFailed) as info:
        answering(answer).store("tasks").update(ID, {"text": "a"})

    assert info.value.maybe_done


def test_after_a_lost_answer_an_unknown_row_is_not_found(waits):
    answers = iter([None, httpx.Response(404, json={}, headers={"X-Agentstore-Tenant": "acme"})])

    def answer(request):
        found = next(answers)
        if found is None:
            raise httpx.ReadError("died", request=request)
        return found

    with pytest.raises(NotFound):
        answering(answer).store("tasks").undelete(ID)


def test_a_timeout_says_what_can_be_done(waits):
    def answer(request):
        raise httpx.ReadTimeout("timed out", request=request)

    with pytest.raises(RemoteFailed, match="ReadTimeout") as info:
        answering(answer).store("tasks").get(ID)

    assert "longer timeout" in info.value.hint
    assert isinstance(info.value, StorageFailed)


def test_an_own_key_that_was_answered_the_first_time_says_what_the_server_says():
    client = answering(
        lambda request: httpx.Response(201, json=row(), headers={"X-Agentstore-Changed": "true"})
    )

    assert client.store("tasks").create({"text": "a"}).changed is True
