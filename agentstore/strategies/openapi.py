"""OpenAPI for the views of strategies. Imported only where drf-spectacular is an installed app."""

from __future__ import annotations

from agentstore.core.openapi import (
    NO_NUL,
    NOT_BLANK,
    TableAutoSchema,
    closed,
    operations,
    query,
    ref,
    shows,
)
from agentstore.core.values import JSONObject
from agentstore.strategies.entry import (
    DEFAULT_CONFIDENCE,
    INJECTION_BUDGET_BYTES,
    MAX_CONFIDENCE,
    MAX_PROBLEM_BYTES,
    MAX_SIGNATURE_BYTES,
    MAX_STRATEGY_BYTES,
    MAX_TEACHER_MODEL_BYTES,
    STRATEGY_ID_RE,
)
from agentstore.strategies.paging import DEFAULT_PAGE, MAX_PAGE
from agentstore.strategies.ranking import DEFAULT_LIMIT

__all__ = ["Schema"]

_TEXT: JSONObject = {"type": "string"}
_COUNT: JSONObject = {"type": "integer", "minimum": 0}
_TIME: JSONObject = {"type": "string", "format": "date-time"}
_ID: JSONObject = {"type": "string", "pattern": "^" + STRATEGY_ID_RE.pattern.replace(r"\Z", "$")}
_CONFIDENCE: JSONObject = {"type": "number", "minimum": 0, "maximum": MAX_CONFIDENCE}
_ORIGIN: JSONObject = {"type": "string", "enum": ["earned", "seeded"]}


def _or_null(schema: JSONObject) -> JSONObject:
    return {**schema, "type": [schema["type"], "null"]}


def _text(most: int, description: str, **more: object) -> JSONObject:
    """Return the schema of a text that is sent; its bytes are limited, so its characters are as well."""
    about = f"{description} At most {most:,} bytes of UTF-8."
    return {"type": "string", "pattern": NO_NUL, "maxLength": most, "description": about, **more}


_GIVEN: JSONObject = {
    "problem": _text(
        MAX_PROBLEM_BYTES, "The problem, in the words that one would look for.", pattern=NOT_BLANK
    ),
    "strategy": _text(MAX_STRATEGY_BYTES, "What worked.", pattern=NOT_BLANK),
    "confidence": {
        **_or_null(_CONFIDENCE),
        "default": DEFAULT_CONFIDENCE,
        "description": f"How sure it is, 0 to {MAX_CONFIDENCE}; {DEFAULT_CONFIDENCE} if left out.",
    },
    "id": {**_or_null(_ID), "description": "Made if left out."},
    "ts": {**_or_null(_TIME), "description": "When it was learned, with an offset; now if left out."},
    "teacher_model": _or_null(_text(MAX_TEACHER_MODEL_BYTES, "The model that it was learned from.")),
    "signature": _or_null(_text(MAX_SIGNATURE_BYTES, "Reserved.")),
}
_OPTIONAL = [name for name in _GIVEN if name not in ("problem", "strategy")]
_ROW: JSONObject = {
    "id": _ID,
    "problem": _TEXT,
    "strategy": _TEXT,
    "confidence": _CONFIDENCE,
    "ts": _TIME,
    "teacher_model": _or_null(_TEXT),
    "signature": _or_null(_TEXT),
    "origin": _ORIGIN,
    "score": {"type": "number", "minimum": 0, "description": "The confidence now, halved every 90 days."},
}
_MATCH: JSONObject = {
    **_ROW,
    "arm": {
        "type": "string",
        "enum": ["full", "alnum"],
        "description": "Found with every term of the objective, or with its alphanumeric terms only.",
    },
    "matched_terms": {"type": "array", "items": _TEXT},
}
_RESULT: JSONObject = {
    "status": {
        "type": "string",
        "enum": ["created", "merged", "not_kept"],
        "description": "Stored anew, stored already, or ranked too low for the capacity.",
    },
    "id": {**_ID, "description": "The id under which the content is stored."},
    "evicted_ids": {"type": "array", "items": _ID, "description": "The others that had to go, best first."},
}
#: What an export gives may be seeded elsewhere.
_IGNORED: JSONObject = {"description": "Ignored: what is seeded has an origin and a tenant."}
_SEED_ENTRY: JSONObject = {**_GIVEN, "origin": _IGNORED, "tenant": _IGNORED}
_FAILURE: JSONObject = {
    "number": {"type": "integer", "minimum": 1, "description": "Which entry, counted from 1."},
    "id": _ID,
    "error": _TEXT,
}

_COMPONENTS: dict[str, JSONObject] = {
    "AgentstoreStrategySave": closed(_GIVEN, optional=_OPTIONAL),
    "AgentstoreStrategySaved": closed(_RESULT),
    "AgentstoreStrategy": closed(_ROW),
    "AgentstoreStrategyPage": closed(
        {
            "results": {"type": "array", "items": ref("AgentstoreStrategy")},
            "next": {**_or_null(_TEXT), "description": "The address of the next page; null on the last one."},
            "next_cursor": _or_null(_TEXT),
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_PAGE},
        }
    ),
    "AgentstoreStrategyFind": closed(
        {
            "objective": {"type": "string", "pattern": NO_NUL, "description": "What is to be done."},
            "limit": {**_COUNT, "default": DEFAULT_LIMIT, "description": "How many at most."},
        },
        optional=["limit"],
    ),
    "AgentstoreStrategyMatch": closed(_MATCH),
    "AgentstoreStrategyMatches": closed(
        {
            "results": {"type": "array", "items": ref("AgentstoreStrategyMatch")},
            "empty_because": {
                "anyOf": [
                    {"type": "string", "enum": ["no_terms", "no_match", "failed"]},
                    {"type": "null"},
                ],
                "description": "Why there are none.",
            },
            "truncated": {
                "type": "boolean",
                "description": f"Whether some were left out to stay within {INJECTION_BUDGET_BYTES:,} bytes.",
            },
        }
    ),
    "AgentstoreStrategyPrune": closed(
        {
            "max_size": {**_COUNT, "description": "How many to keep."},
            "dry_run": {"type": "boolean", "default": False, "description": "Only say which would go."},
        },
        optional=["dry_run"],
    ),
    "AgentstoreStrategyPruned": closed(
        {
            "dry_run": {"type": "boolean"},
            "removed": {"type": "array", "items": ref("AgentstoreStrategy")},
        }
    ),
    "AgentstoreStrategyUsage": closed(
        {
            "used": _COUNT,
            "capacity": {"type": "integer", "minimum": 1},
            "remaining": _COUNT,
        }
    ),
    "AgentstoreStrategySeedEntry": closed(_SEED_ENTRY, optional=[*_OPTIONAL, "origin", "tenant"]),
    "AgentstoreStrategySeed": closed(
        {"entries": {"type": "array", "items": ref("AgentstoreStrategySeedEntry")}}
    ),
    "AgentstoreStrategySeedFailure": closed(_FAILURE),
    "AgentstoreStrategySeeded": closed(
        {
            "written": _COUNT,
            "failed_at": {"anyOf": [ref("AgentstoreStrategySeedFailure"), {"type": "null"}]},
        },
    ),
}
_LOCATION: JSONObject = {"schema": _TEXT, "description": "Where the strategy is."}
_LINKS: JSONObject = {
    operation: {"operationId": operation, "parameters": {"id": "$response.body#/id"}}
    for operation in ("strategies_retrieve", "strategies_destroy")
}
_BODY_ERRORS = (413, 415)


_operation = operations("strategies", _COMPONENTS)
_SAVED = {**shows("AgentstoreStrategySaved", "")[200], "links": _LINKS}
_SAVE = _operation(
    "strategies_save",
    "Save what worked.\n\nThe same problem and strategy are kept once: confidence and time become the "
    "higher ones. Over the capacity the lowest-ranked goes, and the answer says so.",
    body=ref("AgentstoreStrategySave"),
    answers={
        200: {
            **_SAVED,
            "description": "It was stored already, or ranked too low to be kept.",
            "headers": {"Location": _LOCATION},
        },
        201: {
            **_SAVED,
            "description": "It is stored anew.",
            "headers": {"Location": {**_LOCATION, "required": True}},
        },
    },
    errors=(409, *_BODY_ERRORS),
)


class Schema(TableAutoSchema):
    """Describes the operations on strategies."""

    path_parameters = {"id": {**_ID, "description": "The strategy's id."}}
    operations = {
        ("EntriesView", "GET"): _operation(
            "strategies_list",
            "List the strategies in rank order, best first.",
            parameters=[
                query(
                    "limit",
                    f"How many at most; a number outside 1 to {MAX_PAGE} is taken as the nearest.",
                    type="integer",
                    default=DEFAULT_PAGE,
                ),
            ],
            answers=shows("AgentstoreStrategyPage", "A page of strategies."),
        ),
        ("EntriesView", "POST"): _SAVE,
        ("EntryView", "GET"): _operation(
            "strategies_retrieve",
            "Read a strategy.",
            answers=shows("AgentstoreStrategy", "The strategy."),
            errors=(404,),
        ),
        ("EntryView", "DELETE"): _operation(
            "strategies_destroy",
            "Delete a strategy, for good.",
            answers={204: {"description": "It is deleted."}},
            errors=(404,),
        ),
        ("FindView", "POST"): _operation(
            "strategies_find",
            "Find what worked for an objective.\n\nFound are the strategies whose problem holds every "
            "significant word of the objective. What it gives is unverified data.",
            body=ref("AgentstoreStrategyFind"),
            answers=shows("AgentstoreStrategyMatches", "What was found, best first."),
            errors=_BODY_ERRORS,
        ),
        ("PruneView", "POST"): _operation(
            "strategies_prune",
            "Keep the best strategies, remove the rest; it takes a permission of its own.",
            body=ref("AgentstoreStrategyPrune"),
            answers=shows("AgentstoreStrategyPruned", "What went, or would go."),
            errors=_BODY_ERRORS,
        ),
        ("UsageView", "GET"): _operation(
            "strategies_usage",
            "Say how many strategies there are, and how many there may be.",
            answers=shows("AgentstoreStrategyUsage", "The numbers."),
        ),
        ("SeedView", "POST"): _operation(
            "strategies_seed",
            "Save a batch of strategies, checked whole before the first is written.",
            body=ref("AgentstoreStrategySeed"),
            answers=shows("AgentstoreStrategySeeded", "How many were written, and where it stopped."),
            errors=_BODY_ERRORS,
        ),
    }
