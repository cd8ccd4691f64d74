from datetime import date, datetime, time, timedelta

import pytest

from agentstore.core.errors import ValidationFailed
from agentstore.entities.codec import Codec
from agentstore.entities.schema import EntitySchema

LIMITS = {"max_bytes": 10_000, "max_depth": 64}


class Inner(EntitySchema):
    day: date | None = None


class Times(EntitySchema):
    day: date | None = None
    at: datetime | None = None
    hour: time | None = None
    long: timedelta | None = None
    days: list[date] = []
    inner: Inner = Inner()
    code: str = ""


codec = Codec(Times, "times", [])


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"day": "0"}, "day"),
        ({"day": "1767225600"}, "day"),
        ({"at": "-1767225600.5"}, "at"),
        ({"days": ["2026-01-01", "0"]}, "days.1"),
        ({"inner": {"day": "86400"}}, "inner.day"),
    ],
)
def test_digits_are_no_date_or_time(given, path):
    """Pydantic reads them as seconds since 1970, in strict mode too."""
    with pytest.raises(ValidationFailed) as caught:
        codec.encode(given, **LIMITS)

    assert path in caught.value.errors


def test_a_patch_is_held_to_the_same_rule():
    with pytest.raises(ValidationFailed) as caught:
        codec.merge('{"code": "1"}', {"day": "0"}, [], **LIMITS)

    assert "day" in caught.value.errors


def test_times_and_texts_of_digits_are_kept():
    given = {"day": "2026-01-31", "at": "2026-01-31T09:00:00Z", "days": ["2026-01-01"], "code": "0"}

    instance, document = codec.encode(given, **LIMITS)

    assert instance.day == date(2026, 1, 31) and document.value["code"] == "0"
