"""The README's example of remote stores does what it says, against a server that runs."""

from __future__ import annotations

from agentstore.remote import LocalOnly, RemoteFailed
from project.desk.models import Reminder
from tests.live import credentials
from tests.readme import README, blocks


def test_the_example_runs(live):
    (block,) = blocks("python", section="Remote stores")
    told = '"https://shop.example.com/api/", token="..."'
    namespace = {"__name__": "worker"}
    assert told in block.text

    exec(block.text.replace(told, f"{live.url!r}, auth={credentials()!r}"), namespace)  # noqa: S102 - the page's own

    row = Reminder.store("acme").get(namespace["row"].id)
    assert (row.data.text, row.data.done, row.version) == ("Call back", True, 2)
    assert (namespace["stands_at"], namespace["done"]) == (2, ["Call back"])
    assert {entry.reason for entry in Reminder.store("acme").history(row.id)} == {"night shift"}


def test_every_name_that_the_page_gives_is_there():
    text = README.read_text(encoding="utf-8").partition("\n## Remote stores\n")[2].partition("\n## ")[0]

    assert all(f"`{kind.__name__}`" in text for kind in (RemoteFailed, LocalOnly))
