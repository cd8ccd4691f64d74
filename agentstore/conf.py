"""The settings: one dict, ``AGENTSTORE``, read when used so that ``override_settings`` works."""

from __future__ import annotations

from typing import Generic, TypeVar, overload

from django.conf import settings as django_settings

__all__ = ["Settings", "settings"]

T = TypeVar("T")


class Setting(Generic[T]):
    """One key of ``AGENTSTORE`` with its default."""

    def __init__(self, default: T) -> None:
        self.default = default

    def __set_name__(self, owner: type[Settings], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type[Settings]) -> Setting[T]: ...
    @overload
    def __get__(self, instance: Settings, owner: type[Settings]) -> T: ...
    def __get__(self, instance: Settings | None, owner: type[Settings]) -> Setting[T] | T:
        if instance is None:
            return self
        given: T = getattr(django_settings, "AGENTSTORE", {}).get(self.name, self.default)
        return given


class Settings:
    """Names, types and defaults of every setting."""

    #: Dotted path of the class that says who may do what to which tenant.
    ACCESS = Setting("agentstore.core.access.Access")
    #: ``auto`` (single statements on PostgreSQL) or ``portable`` (the ORM everywhere).
    BACKEND = Setting("auto")
    #: The largest row, in bytes of JSON.
    MAX_ROW_BYTES = Setting(256 * 1024)
    #: How deep JSON may nest; at most 64.
    MAX_DEPTH = Setting(64)
    #: How long an idempotency key is remembered, in hours.
    IDEMPOTENCY_HOURS = Setting(24)
    #: The largest agent file, in bytes of UTF-8.
    FILE_MAX_BYTES = Setting(100 * 1024)
    #: How many live files an agent may have.
    FILE_MAX_FILES = Setting(1000)
    #: How much an agent's live files may hold together, in bytes.
    FILE_MAX_AGENT_BYTES = Setting(16 * 1024 * 1024)
    #: How many older versions of a file are kept.
    FILE_VERSIONS_KEPT = Setting(20)
    #: For how many past days (UTC) the day's last version is kept besides.
    FILE_DAILY_KEPT = Setting(7)
    #: How many deleted files of an agent can be undeleted.
    FILE_DELETED_KEPT = Setting(20)
    #: How many strategies a tenant keeps.
    STRATEGY_CAPACITY = Setting(1000)
    #: How many terms of a query must match at least.
    STRATEGY_MIN_TERMS = Setting(1)
    #: Which share of a problem's significant terms the matched ones must be, 0 to 1.
    STRATEGY_MIN_OVERLAP = Setting(0.0)

    @classmethod
    def names(cls) -> list[str]:
        """Return every key that ``AGENTSTORE`` may have."""
        return sorted(name for name, value in vars(cls).items() if isinstance(value, Setting))


settings = Settings()
