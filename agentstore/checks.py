"""The system checks: E0xx for settings, E1xx for declared entities, W for what deserves a look."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings as django_settings
from django.core import checks
from django.utils.module_loading import import_string

from agentstore.conf import Settings, settings
from agentstore.core.guards import MAX_DEPTH
from agentstore.entities.checks import check_entities

__all__ = ["check_settings", "register"]

#: Settings that count what is kept: 0 keeps none.
MAY_BE_NONE = ("FILE_VERSIONS_KEPT", "FILE_DAILY_KEPT", "FILE_DELETED_KEPT")


def register() -> None:
    """Register every check with Django."""
    checks.register(check_settings)
    checks.register(check_entities, checks.Tags.models)


def check_settings(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """Check the ``AGENTSTORE`` dict and the Django settings that agentstore relies on."""
    given = getattr(django_settings, "AGENTSTORE", {})
    if not isinstance(given, dict):
        return [checks.Error("AGENTSTORE must be a dict.", hint="AGENTSTORE = {...}", id="agentstore.E001")]
    return [*_unknown_keys(given), *_values(given), *_access(), *_time_zone(), *_connections()]


def _unknown_keys(given: dict[str, Any]) -> Iterator[checks.CheckMessage]:
    for name in given:
        if name not in Settings.names():
            hint = f"Valid: {', '.join(Settings.names())}."
            yield checks.Error(f"AGENTSTORE[{name!r}] is not a setting.", hint=hint, id="agentstore.E001")


def _values(given: dict[str, Any]) -> Iterator[checks.CheckMessage]:
    for name, value in given.items():
        default = vars(Settings)[name].default if name in Settings.names() else None
        least = 0 if name in MAY_BE_NONE else 1
        whole = isinstance(value, int) and not isinstance(value, bool)
        if isinstance(default, int) and (not whole or value < least):
            problem = f"AGENTSTORE[{name!r}] must be an int >= {least}."
            yield checks.Error(problem, hint=f"The default is {default}.", id="agentstore.E002")
    overlap: object = settings.STRATEGY_MIN_OVERLAP
    if isinstance(overlap, bool) or not isinstance(overlap, int | float) or not 0 <= overlap <= 1:
        problem = "AGENTSTORE['STRATEGY_MIN_OVERLAP'] must be a number from 0 to 1."
        yield checks.Error(problem, hint="The default is 0.0.", id="agentstore.E002")
    if settings.BACKEND not in ("auto", "portable"):
        hint = "The default is 'auto'."
        yield checks.Error(
            "AGENTSTORE['BACKEND'] must be 'auto' or 'portable'.", hint=hint, id="agentstore.E002"
        )
    if isinstance(settings.MAX_DEPTH, int) and settings.MAX_DEPTH > MAX_DEPTH:
        hint = "Deeper JSON breaks other readers."
        yield checks.Error(
            f"AGENTSTORE['MAX_DEPTH'] must be at most {MAX_DEPTH}.", hint=hint, id="agentstore.E002"
        )


def _access() -> Iterator[checks.CheckMessage]:
    try:
        known = isinstance(import_string(settings.ACCESS), type)
    except (ImportError, AttributeError, TypeError):
        known = False
    if not known:
        hint = "Give the dotted path of a subclass of agentstore.core.access.Access."
        problem = f"AGENTSTORE['ACCESS'] names no class that can be imported: {settings.ACCESS!r}."
        yield checks.Error(problem, hint=hint, id="agentstore.E003")


def _time_zone() -> Iterator[checks.CheckMessage]:
    if not django_settings.USE_TZ:
        hint = "Set USE_TZ = True, as Django does by default since 5.0."
        yield checks.Error("agentstore stores aware times and needs USE_TZ.", hint=hint, id="agentstore.E004")


def _connections() -> Iterator[checks.CheckMessage]:
    for alias, config in django_settings.DATABASES.items():
        options = config.get("OPTIONS", {})
        if config.get("ENGINE", "").endswith("postgresql") and not options.get("server_side_binding"):
            yield checks.Info(
                f"DATABASES[{alias!r}] plans every statement anew.",
                hint="Without a pooler in transaction mode, set OPTIONS = {'server_side_binding': True,"
                " 'prepare_threshold': 0}: creates and reads take about half the time.",
                id="agentstore.I001",
            )
