"""What the tests of the files' admin share: addresses, forms, an access class, all that is stored."""

from __future__ import annotations

from django.urls import reverse

from agentstore.core.access import Access
from agentstore.files.models import AgentFile, HistoricalAgentFile
from tests.browser import read_form, text_of
from tests.entities.admin_pages import OnlyAcme, access, grant, messages_of

__all__ = ["NoWrites", "OnlyAcme", "access", "agent_url", "get", "grant", "messages_of", "obj_of", "opened",
           "rows_of", "state", "url"]  # fmt: skip


class NoWrites(Access):
    """Staff may look at everything, whatever their model permissions say."""

    def allows(self, user, tenant, capability, action):
        assert capability == "files"
        return action == "view"


def url(name, *args):
    """Return the address of a page of the files' admin."""
    return reverse(f"admin:agentstore_agentfile_{name}", args=args)


def agent_url(name="agent", agent="bia", tenant="acme", **query):
    """Return the address of a page of an agent."""
    extra = "".join(f"&{key}={value}" for key, value in query.items())
    return f"{url(name, agent)}?tenant={tenant}{extra}"


def obj_of(name, **where):
    """Return the row of the newest file of that name."""
    return AgentFile.objects.filter(name=name, **where).order_by("-created_at")[0]


def get(client, address, status=200):
    """Return a page."""
    response = client.get(address)
    assert response.status_code == status, (address, response.status_code)
    return response.content.decode()


def rows_of(page, table=0):
    """Return the texts of the rows of one of a page's tables."""
    body = page.split('<table class="as-table')[1 + table].split("<tbody")[1].split("</tbody>")[0]
    return [text_of("<tr" + row) for row in body.split("<tr")[1:]]


def opened(client, name, **values):
    """Open the editor of a file and return what a browser would post, some inputs filled in anew."""
    page = get(client, url("change", obj_of(name).pk))
    return {**read_form(page, "agentfile_form"), **values}


def state():
    """Return all that is stored of files, to see whether anything changed."""
    fields = ("pk", "name", "version", "content", "deleted_at", "reason")
    kept = ("pk", "version", "content", "redacted_at")
    return (
        sorted(map(str, AgentFile._base_manager.values_list(*fields))),
        sorted(map(str, HistoricalAgentFile._base_manager.values_list(*kept))),
    )
