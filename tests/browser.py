"""What a browser sends for a form it shows, with nothing touched or with some inputs filled in anew.

It follows the HTML standard where that changes values: a textarea drops its first line break and sends
CR LF, an input of one line drops line breaks, a box or radio that is not checked is not sent.
"""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

VOID = ("input", "br", "img", "link", "meta", "hr")


class _Reader(HTMLParser):
    def __init__(self, form_id):
        super().__init__()
        self.form_id = form_id
        self.inside = form_id is None
        self.values = {}
        self.submits = {}
        self._textarea = self._select = None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "form" and self.form_id in (None, attrs.get("id")):
            self.inside = True
        if not self.inside:
            return
        if tag == "input":
            self._input(attrs)
        elif tag == "textarea":
            self._textarea, self._text = attrs["name"], ""
        elif tag == "select":
            self._select, self._first = attrs["name"], None
        elif tag == "option" and self._select:
            self._option(attrs)

    def _input(self, attrs):
        kind, name, value = attrs.get("type", "text"), attrs.get("name"), attrs.get("value") or ""
        if name is None:
            return
        if kind == "submit":
            self.submits[name] = value
        elif kind in ("checkbox", "radio"):
            if "checked" in attrs:
                self.values.setdefault(name, []).append(value)
        else:
            value = value if kind == "hidden" else re.sub(r"[\r\n]", "", value)
            self.values.setdefault(name, []).append(value)

    def _option(self, attrs):
        value = attrs.get("value", "")
        if self._first is None:
            self._first = value
            self.values[self._select] = [value]
        if "selected" in attrs:
            self.values[self._select] = [value]

    def handle_data(self, data):
        if self._textarea:
            self._text += data

    def handle_endtag(self, tag):
        if tag == "textarea" and self._textarea:
            text = self._text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\n")
            self.values.setdefault(self._textarea, []).append(text.replace("\n", "\r\n"))
            self._textarea = None
        elif tag == "select":
            self._select = None
        elif tag == "form" and self.form_id is not None:
            self.inside = False


def read_form(html, form_id=None):
    """Return what the form of that id (None: all of the page) sends: name -> value, or list of values."""
    reader = _Reader(form_id)
    reader.feed(html)
    return {name: values[0] if len(values) == 1 else values for name, values in reader.values.items()}


def buttons(html, form_id=None):
    """Return the submit buttons of a form: name -> label."""
    reader = _Reader(form_id)
    reader.feed(html)
    return reader.submits


def text_of(html):
    """Return the words of a page, tags left out and white space made one blank."""
    html = re.sub(r"(?s)<(script|style)\b.*?</\1>", " ", html)
    html = re.sub(r"</?(a|b|i|em|strong|span|ins|del|time|code)\b[^>]*>", "", html)
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))).strip()
