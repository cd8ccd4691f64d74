"""JSON in and out: how a body is read, and how one is written, whatever the host's REST settings say."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from agentstore.core import guards
from agentstore.core.values import JSONValue

__all__ = ["JSONNegotiation", "JSONRenderer", "StrictJSONParser"]


class JSONRenderer(BaseRenderer):
    """Compact JSON in UTF-8; what is not text (a lone surrogate in an echoed key) stays escaped."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None) -> bytes:
        if data is None:
            return b""
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
        return text.encode("utf-8", "backslashreplace")


class StrictJSONParser(BaseParser):
    """JSON by the letter (RFC 8259), with unique keys; Django's limit on the body holds.

    A number without a fraction is whole however it is written: 3.0 is 3, as in JSON Schema. But 1e23
    stays a float: its digits are not those of the float that is meant.
    """

    media_type = "application/json"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> JSONValue:
        return guards.parse_json(parser_context["request"].body, parse_float=_number)


def _number(text: str) -> float | int:
    value = float(text)
    whole = int(Decimal(text)) if value.is_integer() else None
    return whole if whole == value else value


class JSONNegotiation(DefaultContentNegotiation):
    """JSON, whatever ``Accept`` and ``?format=`` say: there is nothing else to choose from."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> tuple[Any, str]:
        return renderers[0], renderers[0].media_type
