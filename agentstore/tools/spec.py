"""One tool as every surface knows it, and how it looks in each vendor's dialect. No Django."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from agentstore.core import guards
from agentstore.core.values import JSONObject
from agentstore.tools.variants import choices_in, gemini_variant, plain_variant, strict_variant

__all__ = ["DIALECTS", "Tool", "check_dialect", "describing", "render", "within_limits"]

DIALECTS = ("openai", "openai_chat", "anthropic", "gemini", "mcp")
#: OpenAI refuses a request with a longer description of a tool; those of arguments may be longer.
MAX_DESCRIPTION = 1024
#: Anthropic refuses a request with more strict tools, or with more choices in all of them together.
MAX_STRICT_TOOLS, MAX_STRICT_CHOICES = 20, 16


Handler = Callable[[JSONObject, str | None], JSONObject]


def _unbound(arguments: JSONObject, call_id: str | None) -> JSONObject:
    raise NotImplementedError("This tool is a template: bind it to a handler.")


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool: what a model reads of it, and the function that carries it out.

    ``handler`` takes the checked arguments and a call id (or None), and returns a JSON object.
    ``declared`` names the arguments whose schema comes from an entity's declaration.
    """

    name: str
    title: str
    description: str
    input_schema: JSONObject
    output_schema: JSONObject
    handler: Handler = _unbound
    strict_schema: JSONObject = field(default_factory=dict)
    declared: tuple[str, ...] = ()
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    #: What ``render`` made of it, shared by all that are bound to it.
    _rendered: dict[tuple[str, bool], JSONObject] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def bound(self, handler: Handler) -> Tool:
        """Return this tool with another handler."""
        tool = object.__new__(Tool)
        vars(tool).update(vars(self), handler=handler)  # a third of the time that copy() takes
        return tool


def describing(before: str, text: str, after: str) -> str:
    """Return a tool's description, in which ``text`` is cut at a word where all would be too long."""
    room = MAX_DESCRIPTION - len(before) - len(after)
    if len(text) > room:
        text = text[: room - 3].rsplit(" ", 1)[0] + "..."
    return f"{before}{text}{after}"


def check_dialect(dialect: object) -> None:
    """Raise ``ValidationFailed`` unless there is such a dialect."""
    if dialect not in DIALECTS:
        guards.refuse("dialect", f"There is no dialect {dialect!r:.100}.", f"Valid: {', '.join(DIALECTS)}.")


def render(tool: Tool, dialect: str, *, strict: bool) -> JSONObject:
    """Return the tool's definition in a dialect; it is made once."""
    shown = tool._rendered.get((dialect, strict))
    if shown is None:
        shown = tool._rendered[dialect, strict] = _RENDERERS[dialect](tool, _schema(tool, strict), strict)
    return shown


def _schema(tool: Tool, strict: bool) -> JSONObject:
    """Return what the dialects show of the arguments, made once for all of them."""
    if ("", strict) not in tool._rendered:
        wanted = tool.strict_schema or tool.input_schema
        tool._rendered["", strict] = strict_variant(wanted) if strict else plain_variant(tool.input_schema)
    return tool._rendered["", strict]


def _openai(tool: Tool, schema: JSONObject, strict: bool) -> JSONObject:
    return {"type": "function", **_function(tool, schema, strict)}


def _openai_chat(tool: Tool, schema: JSONObject, strict: bool) -> JSONObject:
    return {"type": "function", "function": _function(tool, schema, strict)}


def _function(tool: Tool, schema: JSONObject, strict: bool) -> JSONObject:
    return {"name": tool.name, "description": tool.description, "parameters": schema, "strict": strict}


def _anthropic(tool: Tool, schema: JSONObject, strict: bool) -> JSONObject:
    shown: JSONObject = {"name": tool.name, "description": tool.description, "input_schema": schema}
    return {**shown, "strict": True} if strict else shown


def within_limits(definitions: Iterable[JSONObject]) -> Iterator[JSONObject]:
    """Leave ``strict`` to as many of Anthropic's tools, the first ones, as one request may have."""
    tools, choices = MAX_STRICT_TOOLS, MAX_STRICT_CHOICES
    for definition in definitions:
        found = choices_in(definition["input_schema"], most=choices) if tools else choices + 1
        if found <= choices:
            tools, choices = tools - 1, choices - found
            yield definition
        else:
            yield {key: value for key, value in definition.items() if key != "strict"}


def _gemini(tool: Tool, schema: JSONObject, strict: bool) -> JSONObject:
    return {"name": tool.name, "description": tool.description, "parameters": gemini_variant(schema)}


def _mcp(tool: Tool, schema: JSONObject, strict: bool) -> JSONObject:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": schema,
        "outputSchema": tool.output_schema,
        "annotations": {
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        },
    }


_RENDERERS: dict[str, Callable[[Tool, JSONObject, bool], JSONObject]] = {
    "openai": _openai,
    "openai_chat": _openai_chat,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "mcp": _mcp,
}
