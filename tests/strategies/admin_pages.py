"""What the tests of the strategies' admin share: addresses, rows of tables, all that is stored."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.contenttypes.models import ContentType
from django.urls import reverse

from agentstore.core.access import Access
from agentstore.strategies import StrategyStore
from agentstore.strategies.models import Incident, Strategy
from tests.browser import text_of
from tests.entities.admin_pages import OnlyAcme, access, grant, messages_of

__all__ = ["EVIL", "NoWrites", "OnlyAcme", "access", "fill", "get", "grant", "inert", "log", "messages_of",
           "obj_of", "post", "rows_of", "sign_in", "spoil", "state", "url"]  # fmt: skip

EVIL = """</textarea></title></pre><script>alert("1")</script><img src=x onerror='alert(2)'>"""


class NoWrites(Access):
    """Staff may look at everything, whatever their model permissions say."""

    def allows(self, user, tenant, capability, action):
        assert capability == "strategies"
        return action == "view"


def url(name, *args, **query):
    """Return the address of a page of the strategies' admin, or ``incidents``."""
    model = "incident" if name == "incidents" else "strategy"
    page = "changelist" if name in ("list", "incidents") else name
    address = reverse(f"admin:agentstore_{model}_{page}", args=args)
    return f"{address}?{urlencode(query)}" if query else address


def get(client, address, status=200):
    """Return a page."""
    response = client.get(address)
    assert response.status_code == status, (address, response.status_code)
    return response.content.decode()


def post(client, address, values, status=200):
    """Return the page that a form leads to."""
    response = client.post(address, values)
    assert response.status_code == status, (address, response.status_code)
    return response.content.decode()


def rows_of(page, table=0):
    """Return the words of each row of a table's body."""
    body = page.split('<table class="as-table')[1 + table].split("<tbody")[1].split("</tbody>")[0]
    return [text_of("<tr" + row) for row in body.split("<tr")[1:]]


def obj_of(id, tenant="acme"):
    """Return the stored row of a strategy."""
    return Strategy.objects.get(tenant=tenant, strategy_id=id)


def fill(tenant, count, **fields):
    """Store strategies s1, s2, ... of falling confidence, so that s1 ranks first."""
    store = StrategyStore(tenant)
    for number in range(1, count + 1):
        store.save(
            problem=f"problem {number}", strategy=f"way {number}", id=f"s{number}",
            confidence=3 - number / 100, **fields,
        )  # fmt: skip
    return store


def spoil(id, **values):
    """Change a stored strategy around the store."""
    assert Strategy._base_manager.filter(strategy_id=id).update(**values) == 1


def sign_in(client, staff, *actions, incidents=False):
    """Sign a member of staff in with permissions on strategies and, if asked, on incidents."""
    staff = type(staff).objects.get(pk=staff.pk)
    grant(staff, *actions, model=Strategy)
    if incidents:
        grant(staff, "view", model=Incident)
    client.force_login(staff)
    return client


def state():
    """Return all that is stored of strategies, to see whether anything changed."""
    fields = ("pk", "tenant", "strategy_id", "problem", "strategy", "confidence", "ts", "origin")
    rows = sorted(map(str, Strategy._base_manager.values_list(*fields)))
    return rows, sorted(map(str, Incident._base_manager.values_list("pk", "op", "count")))


def log():
    """Return (flag, what it is about, message) of the log's entries about strategies."""
    kind = ContentType.objects.get_for_model(Strategy)
    entries = kind.logentry_set.order_by("pk")
    return [(entry.action_flag, entry.object_repr, entry.change_message) for entry in entries]


def inert(page):
    """Tell whether a page holds no tag of what it shows, no inline script and no inline style."""
    assert "<script>" not in page
    assert "onerror='" not in page
    assert "<img src=x" not in page
    assert page.count("<textarea") == page.count("</textarea>")
    assert page.count("<pre") == page.count("</pre>")
    assert page.count("<title") == page.count("</title>")
    assert " style=" not in page
    assert " onclick" not in page
    return True
