"""One widget bound to a stored value and, after a POST, to what was posted for it.

Every field says what it shows, whether somebody changed it, and what it is now. A field that nobody
changed keeps its stored value, whatever its text looks like.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _

from agentstore.core.values import JSONValue
from agentstore.entities.forms.moments import Unreadable, in_utc, split_moment
from agentstore.entities.forms.shape import MISSING, Shape, as_json
from agentstore.entities.forms.texts import is_shown, plain_lines, read, write

__all__ = ["BoundField", "Leaf", "Posted", "posted_as_json"]

Posted = Mapping[str, str]

#: Text longer than this, in characters, gets a widget of several lines.
_LINE = 100


class BoundField(ABC):
    """What all fields share: their place, their errors, and what a stale save says about them."""

    template = ""

    def __init__(self, shape: Shape, path: str, value: JSONValue, posted: Posted | None) -> None:
        self.shape, self.path, self.stored, self.posted = shape, path, value, posted
        self.name = f"data.{path}"
        self.errors: list[str] = []
        #: "both", "theirs", "yours" or "", after a stale save.
        self.mark = ""
        self.note: str = ""
        self.theirs: object = None

    @property
    def id(self) -> str:
        """The id of the input, or of what stands around several."""
        return f"id_{self.name}"

    @property
    def label(self) -> str:
        return self.shape.label or self.shape.key

    @property
    def help(self) -> str:
        """What stands below the widget."""
        return self.shape.help

    @property
    @abstractmethod
    def touched(self) -> bool:
        """True when somebody changed the text."""

    @property
    @abstractmethod
    def was_posted(self) -> bool:
        """True when the form that was posted showed the field."""

    @property
    def lacking(self) -> bool:
        """True when the row must have a value, has none, and none was typed: the empty field is its value."""
        return self.shape.required and self.stored is MISSING and self.was_posted and not self.touched

    @abstractmethod
    def empty(self) -> JSONValue:
        """Return the value that the field has when it is left empty; ``MISSING`` for none."""

    @abstractmethod
    def value(self) -> JSONValue:
        """Return the JSON value; ``MISSING`` for none, ``UNSET`` for the default. May add errors."""

    def attach(self, rest: Sequence[str], message: str) -> None:
        """Show an error of the store at the place that ``rest`` names inside this field."""
        self.errors.append(f"{'.'.join(rest)}: {message}" if rest else message)

    @property
    def error_count(self) -> int:
        return len(self.errors)


class Leaf(BoundField):
    """One value in one widget (a moment has two inputs)."""

    template = "agentstore/admin/field_leaf.html"

    def __init__(self, shape: Shape, path: str, value: JSONValue, posted: Posted | None) -> None:
        if posted_as_json(path, posted, otherwise=not is_shown(shape, value)):
            shape = as_json(shape)
        super().__init__(shape, path, value, posted)
        if shape.kind == "json":
            self.name += ":json"
        self.base_text = write(shape, shape.default if value is MISSING else value)
        given = self._given()
        self._given_text = None if given is None else plain_lines(given)

    @property
    def text(self) -> str:
        """The text that the widget shows: what was posted, else what is stored."""
        return self.base_text if self._given_text is None else self._given_text

    def _given(self) -> str | None:
        if self.posted is None:
            return None
        if self.shape.kind == "moment":
            parts = [self.posted.get(f"{self.name}.{part}") for part in ("date", "time")]
            return None if None in parts else " ".join(map(str, parts)).rstrip(" ")
        if self.shape.kind == "boolean" and f"{self.name}:box" in self.posted:
            return "true" if self.posted.get(self.name) else "false"  # a box left empty sends nothing
        return self.posted.get(self.name)

    @property
    def touched(self) -> bool:
        return self._given_text is not None and self._given_text != plain_lines(self.base_text)

    @property
    def was_posted(self) -> bool:
        return self._given_text is not None

    def empty(self) -> JSONValue:
        if self.shape.nullable:
            return None
        return [] if self.shape.kind == "lines" else MISSING

    @property
    def blank(self) -> bool:
        """True when the text says nothing that the default would not say."""
        return self.text.strip() in ("", write(self.shape, self.shape.default))

    def value(self) -> JSONValue:
        if not self.touched:
            return self.stored
        try:
            return self._with_line_ends(read(self.shape, self.text))
        except Unreadable as problem:
            self.errors.append(str(problem))
            return MISSING

    def _with_line_ends(self, value: JSONValue) -> JSONValue:
        """Give changed text the line ends that it had, which no browser sends back."""
        stored = self.stored
        if not isinstance(value, str) or not isinstance(stored, str) or "\r\n" not in stored:
            return value
        mixed = {"\r", "\n"} & set(stored.replace("\r\n", ""))
        return value if mixed else value.replace("\n", "\r\n")

    def attach(self, rest: Sequence[str], message: str) -> None:
        if self.shape.kind == "lines" and rest and rest[0].isdigit():
            message = _("Line %(number)d: %(message)s") % {"number": int(rest[0]) + 1, "message": message}
            rest = ()
        super().attach(() if self.shape.kind != "json" else rest, message)

    # --- what the template shows ---------------------------------------------------------------

    @property
    def input_id(self) -> str:
        """The id of the first input."""
        return f"{self.id}.date" if self.shape.kind == "moment" else self.id

    @property
    def help(self) -> str:
        extra = {"lines": _("One per line."), "json": _("JSON.")}.get(self.shape.kind, "")
        if self.shape.kind == "moment":
            extra = in_utc(self.text)
        return " ".join(part for part in (self.shape.help, extra) if part)

    @property
    def widget(self) -> str:
        """The widget: checkbox, select, moment, textarea or input."""
        kind = self.shape.kind
        if kind == "boolean":
            known = self.shape.default if self.stored is MISSING else self.stored
            return "checkbox" if isinstance(known, bool) and not self.shape.nullable else "select"
        if kind in ("choice", "moment"):
            return {"choice": "select", "moment": "moment"}[kind]
        long = (
            self.shape.multiline
            or "\n" in plain_lines(self.text)
            or (self.shape.plain and len(self.text) > _LINE)
        )
        return "textarea" if long or kind == "lines" else "input"

    @property
    def checked(self) -> bool:
        return self.text == "true"

    @property
    def options(self) -> list[dict[str, object]]:
        """The options of a select, the stored value among them even if it is not allowed."""
        if self.shape.kind == "boolean":
            known = [("true", _("Yes")), ("false", _("No"))]
        else:
            known = [(choice.text, choice.label) for choice in self.shape.choices]
        options = [("", _("Unknown") if self.shape.kind == "boolean" else "---------"), *known]
        if self.base_text and not self.shape.nullable:
            options = options[1:]
        texts = [text for text, _label in options]
        for text in dict.fromkeys((self.base_text, self.text)):
            if text not in texts:
                options.append((text, _("%(value)s (not allowed)") % {"value": text}))
        return [{"text": text, "label": label, "selected": text == self.text} for text, label in options]

    @property
    def day(self) -> str:
        return split_moment(self.text)[0]

    @property
    def clock(self) -> str:
        return split_moment(self.text)[1]

    @property
    def rows(self) -> int:
        lines = sum(1 + len(line) // _LINE for line in self.text.split("\n"))
        return min(max(lines + (self.shape.kind == "lines"), 3), 20)

    @property
    def css(self) -> str:
        """The admin's own class for an input of this kind."""
        if self.shape.kind == "number" or self.shape.numeric:
            return "as-number"
        return "vDateField" if self.shape.kind == "day" else "vTextField"

    @property
    def inputmode(self) -> str:
        return self.shape.numeric or "text"


def posted_as_json(path: str, posted: Posted | None, *, otherwise: bool) -> bool:
    """Tell whether the form that was posted showed JSON text here; ``otherwise`` where it says nothing.

    What the form showed counts, since the stored value may have become another one meanwhile.
    """
    name = f"data.{path}"
    if posted is None or f"{name}:json" in posted:
        return otherwise if posted is None else True
    shown = any(key == name or key.startswith((f"{name}.", f"{name}:")) for key in posted)
    return False if shown else otherwise
