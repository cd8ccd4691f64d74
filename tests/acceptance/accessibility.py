"""What axe finds wrong with a page, what Django's own templates bring left out; and whether it fits."""

from __future__ import annotations

import pytest

from tests.acceptance.chromium import opened, sign_in

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

#: Colours and widths to look at pages in.
SCREENS = [("light", 400), ("dark", 1280)]

#: What Django's own templates bring: links of breadcrumbs, the search box, its link to show all.
DJANGOS = [
    ("link-in-text-block", ".breadcrumbs"),
    ("link-in-text-block", ".small > a"),
    ("label-title-only", "#searchbar"),
]

#: Whether a table is wider than what it stands in, and no box of its own scrolls it.
STICKS_OUT = """[...document.querySelectorAll("#content .as-table:not(.as-scroll *)")].some(
    (table) => table.getBoundingClientRect().right > table.parentElement.getBoundingClientRect().right + 1)"""


def violations(page):
    """Return what is wrong with a page, by axe or because something does not fit."""
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    sticks_out = page.evaluate(STICKS_OUT)
    return (
        [
            f"{rule['id']}: {' '.join(node['target'])}: {node['html'][:200]}"
            for rule in axe.Axe().run(page).response["violations"]
            for node in rule["nodes"]
            if not any(rule["id"] == name and _within(page, node, part) for name, part in DJANGOS)
        ]
        + ["scrolls sideways"] * wide
        + ["a table sticks out"] * sticks_out
    )


def check_pages(url, states, *, scheme, width):
    """Look at every state of the pages of a live server: ``states`` has, by name, what leads there."""

    def look_at_all(page):
        sign_in(page)
        found = {}
        for name, lead in states.items():
            lead(page)
            found[name] = violations(page)
        return {name: problems for name, problems in found.items() if problems}

    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}
    with opened(url, **options) as browser:
        problems = browser.do(look_at_all, timeout=900)
    assert not problems, "\n".join(f"{name}: {told}" for name, told in problems.items())


def _within(page, node, part):
    """Tell whether a node that axe names is, or is in, what a selector means."""
    return page.locator(node["target"][0]).evaluate("(found, part) => found.closest(part) !== null", part)
