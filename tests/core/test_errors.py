"""The errors: stable codes, bodies that surfaces show, and no need of Django."""

from __future__ import annotations

import pytest

from agentstore.core import errors
from tests.isolated import run_python

CODES = {
    "NotFound": "not_found",
    "Conflict": "conflict",
    "QuotaExceeded": "quota",
    "ValidationFailed": "validation",
    "AlreadyExists": "exists",
    "TooLarge": "too_large",
    "PermissionDenied": "permission",
    "StorageFailed": "storage",
    "BypassRefused": "bypass",
}


@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_each_error_has_its_stable_code(name, code):
    error = getattr(errors, name)("It broke.", hint="Mend it.")

    assert isinstance(error, errors.AgentStoreError)
    assert error.code == code
    assert (str(error), error.message, error.hint) == ("It broke.", "It broke.", "Mend it.")
    assert error.as_dict() == {"code": code, "detail": "It broke.", "hint": "Mend it."}


def test_body_without_a_hint_has_no_hint():
    assert errors.NotFound("Gone.").as_dict() == {"code": "not_found", "detail": "Gone."}


def test_conflict_says_the_current_version():
    error = errors.Conflict("Changed.", current_version=7)

    assert error.as_dict() == {"code": "conflict", "detail": "Changed.", "current_version": 7}
    assert "current_version" not in errors.Conflict("Changed.").as_dict()


def test_validation_lists_messages_by_path():
    error = errors.ValidationFailed("No.", errors={"lines.0.sku": ("Field required",)})

    assert error.errors == {"lines.0.sku": ["Field required"]}
    assert error.as_dict()["errors"] == {"lines.0.sku": ["Field required"]}
    assert "errors" not in errors.ValidationFailed("No.").as_dict()


def test_body_of_a_validation_error_is_a_copy():
    error = errors.ValidationFailed("No.", errors={"a": ["x"]})

    error.as_dict()["errors"]["a"].append("y")

    assert error.errors == {"a": ["x"]}


def test_only_a_storage_error_may_be_retryable():
    assert errors.StorageFailed("No.", retryable=True).retryable
    assert not errors.StorageFailed("No.").retryable
    assert not errors.Conflict("No.").retryable


@pytest.mark.parametrize(
    "module",
    [
        "agentstore",
        "agentstore.conf",
        "agentstore.core.context",
        "agentstore.core.errors",
        "agentstore.core.guards",
        "agentstore.core.ordering",
        "agentstore.core.tenancy",
        "agentstore.core.values",
        "agentstore.entities",
        "agentstore.entities.codec",
        "agentstore.entities.fields",
        "agentstore.entities.query",
        "agentstore.entities.schema",
    ],
)
def test_pure_modules_import_without_configured_settings(module):
    done = run_python(f"import {module}; from django.conf import settings; print(settings.configured)")

    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    "module",
    ["errors", "values", "guards", "tenancy", "context", "ordering"],
    ids=lambda name: f"core.{name}",
)
def test_the_core_of_the_core_does_without_django(module):
    done = run_python(f"import sys, agentstore.core.{module}; print('django' in sys.modules)")

    assert done.stdout.strip() == "False"


def test_the_schema_module_does_without_django():
    done = run_python(
        "import sys; from agentstore.entities import EntitySchema; print('django' in sys.modules)"
    )

    assert done.stdout.strip() == "False"


def test_an_unknown_name_in_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        from agentstore import entities

        entities.nonsense  # noqa: B018
