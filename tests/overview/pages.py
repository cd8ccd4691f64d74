"""What the tests of the overview share: its address, its cards, the rows of its tables."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from django.urls import reverse

from tests.browser import text_of


def url(**query):
    """Return the address of the overview."""
    address = reverse("admin:agentstore_overview_changelist")
    return f"{address}?{urlencode(query)}" if query else address


def get(client, status=200, **query):
    """Return the page."""
    response = client.get(url(**query))
    assert response.status_code == status
    return response.content.decode()


def cards_of(page):
    """Return the words of each card: its name and, for each line, label -> words."""
    return {text_of(card.split("</h3>")[0]): _lines(card) for card in _cards(page)}


def _cards(page):
    return [card.split("</section>")[0] for card in page.split('<section class="as-card">')[1:]]


def _lines(card):
    found = {}
    for row in card.split("<tr>")[1:]:
        head, cell = row.split("</th>")
        found[text_of(head)] = text_of(cell.split("</td>")[0])
    return found


def feet_of(page):
    """Return what stands below the lines of each card."""
    return [text_of(card.split("</table>")[1]) for card in _cards(page)]


def rows_of(page, heading):
    """Return the cells' words of each row of the table below a heading."""
    section = page.split(f"<h2>{heading}</h2>")[1].split("</section>")[0]
    if "<tbody" not in section:
        return []
    body = section.split("<tbody")[1].split("</tbody>")[0]
    return [[text_of(cell) for cell in re.findall(r"<t[dh][ >].*?</t[dh]>", row, re.DOTALL)]
            for row in body.split("<tr")[1:]]  # fmt: skip


def links_of(page, heading):
    """Return the addresses that the table below a heading leads to."""
    section = page.split(f"<h2>{heading}</h2>")[1].split("</section>")[0]
    return [link.replace("&amp;", "&") for link in re.findall(r'<a href="([^"]+)"', section)]
