"""Widgets bound to a stored value and, after a POST, to what was posted for them.

Every field says what it shows, whether somebody changed it, and what it is now. A field that nobody
changed keeps its stored value, whatever its text looks like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _

from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.forms.shape import MISSING, Shape, as_json
from agentstore.entities.forms.texts import UNSET, Unreadable, is_shown, plain_lines, read, split_moment, write

__all__ = ["BoundField", "Leaf", "bind"]

Posted = Mapping[str, str]

#: A table with more inputs than this is edited as JSON: Django takes at most 1,000 inputs a form.
MAX_CELLS = 400
_SHORT, _LINE = 20, 100


class BoundField:
    """What all fields share: their place, their errors, and what a stale save says about them."""

    template = ""

    def __init__(self, shape: Shape, path: str, value: JSONValue, posted: Posted | None) -> None:
        self.shape, self.path, self.stored, self.posted = shape, path, value, posted
        self.name = f"data.{path}"
        self.errors: list[str] = []
        #: "both", "theirs", "yours" or "", after a stale save.
        self.mark = ""
        self.note = ""
        self.theirs = ""

    @property
    def id(self) -> str:
        """The id of the input, or of what stands around several."""
        return f"id_{self.name}"

    @property
    def label(self) -> str:
        return self.shape.label or self.shape.key

    @property
    def touched(self) -> bool:
        """True when somebody changed the text."""
        raise NotImplementedError

    def value(self) -> JSONValue:
        """Return the JSON value; ``MISSING`` for none, ``UNSET`` for the default. May add errors."""
        raise NotImplementedError

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
        if _posted_as_json(path, posted, otherwise=not is_shown(shape, value)):
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
        if self.widget == "checkbox":
            return "true" if self.posted.get(self.name) else "false"
        return self.posted.get(self.name)

    @property
    def touched(self) -> bool:
        return self._given_text is not None and self._given_text != plain_lines(self.base_text)

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
        if isinstance(value, str) and isinstance(stored, str) and "\r\n" in stored:
            if not {"\r", "\n"} & set(stored.replace("\r\n", "")):
                return value.replace("\n", "\r\n")
        return value

    def attach(self, rest: Sequence[str], message: str) -> None:
        if self.shape.kind == "lines" and rest and rest[0].isdigit():
            message = _("Line %(number)d: %(message)s") % {"number": int(rest[0]) + 1, "message": message}
            rest = ()
        super().attach(() if self.shape.kind != "json" else rest, message)

    # --- what the template shows ---------------------------------------------------------------

    @property
    def widget(self) -> str:
        """The widget: checkbox, select, moment, textarea or input."""
        kind = self.shape.kind
        if kind == "boolean":
            known = self.shape.default if self.stored is MISSING else self.stored
            return "checkbox" if isinstance(known, bool) and not self.shape.nullable else "select"
        if kind in ("choice", "moment"):
            return {"choice": "select", "moment": "moment"}[kind]
        long = self.shape.multiline or "\n" in self.text or (self.shape.plain and len(self.text) > _LINE)
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


class Group(BoundField):
    """A nested object: a fieldset with one field per key."""

    template = "agentstore/admin/field_group.html"

    def __init__(self, shape: Shape, path: str, value: JSONValue, posted: Posted | None) -> None:
        super().__init__(shape, path, value, posted)
        value = shape.default if value is MISSING else value
        known: JSONObject = value if isinstance(value, dict) else {}
        self.parts = [
            Leaf(part, f"{path}.{part.key}", known.get(part.key, MISSING), posted) for part in shape.parts
        ]
        self.can_clear = shape.nullable and isinstance(self.stored, dict)
        self.cleared = self.can_clear and posted is not None and f"{self.name}:none" in posted

    @property
    def touched(self) -> bool:
        return self.cleared or any(part.touched for part in self.parts)

    def value(self) -> JSONValue:
        if not self.touched:
            return self.stored
        return None if self.cleared else self.whole()

    def whole(self) -> JSONObject:
        """Return the object of all parts; those without a value are left to their defaults."""
        values = {part.shape.key: part.value() for part in self.parts}
        return {key: value for key, value in values.items() if value is not MISSING and value is not UNSET}

    def attach(self, rest: Sequence[str], message: str) -> None:
        for part in self.parts:
            if rest and part.shape.key == rest[0]:
                part.attach(rest[1:], message)
                return
        super().attach(rest, message)

    @property
    def error_count(self) -> int:
        return len(self.errors) + sum(part.error_count for part in self.parts)


class Row(Group):
    """One row of a table; the last one is spare."""

    def __init__(self, shape: Shape, path: str, value: JSONValue, posted: Posted | None, *, number: int) -> None:
        super().__init__(shape, path, value, posted)
        self.number = number
        self.can_clear = False
        self.spare = value is MISSING
        self.deleted = posted is not None and f"{self.name}:delete" in posted

    @property
    def blank(self) -> bool:
        """True when the row stands for nothing: a spare one left empty, or one that was emptied."""
        return all(part.blank for part in self.parts) and (self.spare or self.touched)


class Table(BoundField):
    """A list of objects: one row each, and a spare one for the next."""

    template = "agentstore/admin/field_table.html"

    def __init__(self, shape: Shape, path: str, value: JSONValue, posted: Posted | None) -> None:
        super().__init__(shape, path, value, posted)
        value = shape.default if value is MISSING else value
        self.items: list[JSONValue] = value if isinstance(value, list) else []
        count = self._given_rows()
        self.given = count is not None
        self.rows = [self._row(number) for number in range(len(self.items) + 1 if count is None else count)]
        if self.given and (not self.rows or not self.rows[-1].blank):
            self.rows.append(self._row(len(self.rows)))
        #: The rows that count, in the order in which they are sent: errors name them by that.
        self.kept = [row for row in self.rows if not row.deleted and not row.blank]

    def _given_rows(self) -> int | None:
        given = "" if self.posted is None else self.posted.get(f"{self.name}:rows", "")
        return min(int(given), 1000) if given.isdecimal() and len(given) < 9 else None

    def _row(self, number: int) -> Row:
        item = self.items[number] if number < len(self.items) else MISSING
        item = item if isinstance(item, dict) else MISSING
        return Row(self.shape, f"{self.path}.{number}", item, self.posted, number=number + 1)

    @property
    def columns(self) -> tuple[Shape, ...]:
        return self.shape.parts

    @property
    def touched(self) -> bool:
        return self.given and (len(self.kept) != len(self.items) or any(row.touched for row in self.kept))

    def value(self) -> JSONValue:
        return [row.whole() for row in self.kept] if self.touched else self.stored

    def attach(self, rest: Sequence[str], message: str) -> None:
        if rest and rest[0].isdigit() and int(rest[0]) < len(self.kept):
            self.kept[int(rest[0])].attach(rest[1:], message)
        else:
            super().attach(rest, message)

    @property
    def error_count(self) -> int:
        return len(self.errors) + sum(row.error_count for row in self.rows)


def bind(shape: Shape, path: str, value: JSONValue, posted: Posted | None, *, max_cells: int = MAX_CELLS) -> BoundField:
    """Return the field of ``shape``; a value that its own widget can't show is bound to JSON text."""
    stored = shape.default if value is MISSING else value
    if shape.kind == "group" and not _posted_as_json(path, posted, otherwise=not _is_group(stored)):
        return Group(shape, path, value, posted)
    if shape.kind == "table" and not _posted_as_json(path, posted, otherwise=not _is_table(shape, stored, max_cells)):
        return Table(shape, path, value, posted)
    return Leaf(as_json(shape) if shape.kind in ("group", "table") else shape, path, value, posted)


def _posted_as_json(path: str, posted: Posted | None, *, otherwise: bool) -> bool:
    """Tell whether the form that was posted showed JSON text here; ``otherwise`` where it says nothing.

    What the form showed counts, since the stored value may have become another one meanwhile.
    """
    name = f"data.{path}"
    if posted is None or f"{name}:json" in posted:
        return otherwise if posted is None else True
    shown = any(key == name or key.startswith((f"{name}.", f"{name}:")) for key in posted)
    return False if shown else otherwise


def _is_group(value: JSONValue) -> bool:
    return value is MISSING or value is None or isinstance(value, dict)


def _is_table(shape: Shape, value: JSONValue, max_cells: int) -> bool:
    if value is MISSING or value is None:
        return True
    if not isinstance(value, list) or (len(value) + 1) * (len(shape.parts) + 1) > max_cells:
        return False
    return all(isinstance(item, dict) for item in value)
