"""Who sees and changes what in the files' admin; and that nothing stored is ever markup."""

from __future__ import annotations

import re

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from simple_history.admin import SimpleHistoryAdmin

from agentstore.admin import register_missing
from agentstore.files import FileStore
from agentstore.files.admin import AgentFileAdmin
from agentstore.files.admin.uploading import pack
from agentstore.files.importing import Step, fingerprint
from agentstore.files.models import AgentFile, HistoricalAgentFile
from tests.files.admin_pages import (
    NoWrites,
    OnlyAcme,
    access,
    agent_url,
    get,
    grant,
    messages_of,
    obj_of,
    state,
    url,
)

BACK = {"date": "2026-11-01", "time": "12:00"}


@pytest.fixture
def written(db, tenant, actor):
    """SOUL.md at version 2 and a deleted file."""
    files = FileStore(tenant, "bia", actor=actor)
    files.write("SOUL.md", "one\n")
    files.write("SOUL.md", "two\n")
    files.write("gone.md", "x\n")
    files.delete("gone.md")
    return files


def pages(soul, gone):
    """Return the address of every page about SOUL.md, gone.md and their agent."""
    names = ("change", "versions", "diff", "raw", "download", "rename", "redact", "delete", "history")
    return {
        **{name: url(name, soul) for name in names},
        "restore": url("restore", soul, 1),
        "undelete": url("undelete", gone),
        "changelist": url("changelist"),
        "add": url("add"),
        "import": url("import"),
        **{f"agent {name}": agent_url(name, **BACK) for name in ("agent", "deleted", "export", "back")},
    }


POSTS = {
    "change": {"content": "mine", "version": "2", "_save": "x"},
    "rename": {"name": "x.md", "version": "2"},
    "redact": {"version": "1", "reason": "x"},
    "delete": {"version": "2"},
    "restore": {"version": "2"},
    "undelete": {},
    "add": {"tenant": "acme", "agent": "bia", "name": "n.md", "content": "x", "_save": "x"},
    "import": {"tenant": "acme", "agent": "bia", "_import": "x"},
    "agent back": {**BACK, "file": "SOUL.md", "seen": "born:0:2:SOUL.md", "_back": "x"},
}
POSTS["import"] |= {"packed": pack({"n.md": "x"}), "seen": fingerprint([Step(name="n.md", action="create")])}
#: What each of the acts takes.
NEEDS = {
    "change": {"change"},
    "rename": {"change"},
    "redact": {"change", "redact"},
    "delete": {"delete"},
    "restore": {"change", "restore"},
    "undelete": {"undelete"},
    "add": {"add"},
    "import": {"import", "add"},
    "agent back": {"change", "restore", "delete"},
}
ALL = {"view", "add", "change", "delete", "undelete", "restore", "redact", "import"}


def test_every_address_of_the_admin_is_among_the_pages():
    """What the tests below say of all pages, they say of all that there are."""
    prefix = "agentstore_agentfile_"
    names = {pattern.name.removeprefix(prefix) for pattern in own_patterns() if pattern.name}

    assert names == {name.removeprefix("agent ") for name in pages("x", "x")}


def own_patterns():
    """Return the patterns of the files' admin; the one without a name only leads to the editor."""
    return admin.site.get_model_admin(AgentFile).get_urls()


def sign_in(client, staff, *actions):
    grant(staff, *actions, model=AgentFile)
    client.force_login(staff)
    return client


def test_view_permission_alone_shows_and_changes_nothing_by_any_address(client, staff, written):
    sign_in(client, staff, "view")
    before = state()
    addresses = pages(obj_of("SOUL.md").pk, obj_of("gone.md").pk)

    answers = {
        name: client.post(address, POSTS.get(name, {})).status_code for name, address in addresses.items()
    }

    assert state() == before
    assert not LogEntry.objects.exists()
    assert {name: answers[name] for name in POSTS} == dict.fromkeys(POSTS, 403)


def test_view_permission_alone_has_no_buttons(client, staff, written):
    sign_in(client, staff, "view")
    soul = obj_of("SOUL.md").pk

    editor, versions = get(client, url("change", soul)), get(client, url("versions", soul))
    restore, back = get(client, url("restore", soul, 1)), get(client, agent_url("back", **BACK))

    assert "readonly" in editor
    assert "agentfile_form" not in editor
    assert "Restore…" not in versions
    assert "Blank out" not in versions
    assert "restore_form" not in restore
    assert 'name="_back"' not in back
    assert "Undelete…" not in get(client, agent_url("deleted"))
    assert url("add") not in get(client, url("changelist")) + get(client, agent_url())


@pytest.mark.parametrize("act", POSTS)
@pytest.mark.django_db
def test_every_act_takes_its_own_permissions_on_the_post(client, staff, written, act):
    address = pages(obj_of("SOUL.md").pk, obj_of("gone.md").pk)[act]
    before = state()
    for missing in NEEDS[act]:
        staff.user_permissions.clear()
        sign_in(client, type(staff).objects.get(pk=staff.pk), *(ALL - {missing}))
        assert client.post(address, POSTS[act]).status_code == 403, missing
    assert state() == before

    sign_in(client, type(staff).objects.get(pk=staff.pk), *NEEDS[act], "view")

    assert client.post(address, POSTS[act]).status_code == 302
    assert state() != before
    assert LogEntry.objects.count() == 1


@pytest.mark.parametrize("act", POSTS)
def test_the_access_class_is_asked_about_every_act(admin_client, settings, written, act):
    access(settings, NoWrites)
    before = state()

    response = admin_client.post(pages(obj_of("SOUL.md").pk, obj_of("gone.md").pk)[act], POSTS[act])

    assert response.status_code == 403
    assert state() == before


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_file_of_another_tenant_is_answered_as_one_that_never_was(admin_client, settings, written, method):
    access(settings, OnlyAcme)
    other = FileStore("globex", "bia")
    other.write("theirs.md", "a")
    other.write("theirs.md", "b")
    other.write("gone too.md", "a")
    other.delete("gone too.md")
    never = "019283aa-0000-7000-8000-000000000000"
    theirs = pages(obj_of("theirs.md").pk, obj_of("gone too.md").pk)
    nobodys = pages(never, never)
    before = state()

    for name in set(theirs) - {"changelist", "add", "import"}:
        if name.startswith("agent"):
            pair = [agent_url(name.split()[1], tenant="globex"), agent_url(name.split()[1], agent="nobody")]
        else:
            pair = [theirs[name], nobodys[name]]
        answers = [getattr(admin_client, method)(address, POSTS.get(name, {})) for address in pair]
        assert [(each.status_code, each["Location"]) for each in answers] == [(302, "/admin/")] * 2, name
        told = [re.sub(r"“.*”", "", messages_of(each)[-1]) for each in answers]
        assert told[0] == told[1]
    assert state() == before


def test_another_tenant_is_neither_listed_nor_offered(admin_client, settings, written):
    access(settings, OnlyAcme)
    FileStore("globex", "hidden").write("theirs.md", "a")

    for address in ("", "?tenant=globex", "?q=theirs"):
        page = get(admin_client, url("changelist") + address)
        assert "hidden" not in re.sub(r'type="hidden"|visually-hidden|aria-hidden', "", page)
        assert "theirs.md" not in page
    assert "Acme &amp; Sons" in get(admin_client, url("changelist"))
    assert admin_client.post(url("add"), {**POSTS["add"], "tenant": "globex"}).status_code == 403
    assert admin_client.post(url("import"), {**POSTS["import"], "tenant": "globex"}).status_code == 403


@pytest.mark.parametrize("wrong", ["", " ", "x" * 300, "a%00b", "acme%0a"])
def test_what_can_not_be_a_tenant_has_no_agent_page(admin_client, written, wrong):
    assert admin_client.get(agent_url(tenant=wrong)).status_code == 302


def test_nobody_without_permission_sees_a_page(client, staff, written):
    client.force_login(staff)
    addresses = pages(obj_of("SOUL.md").pk, obj_of("gone.md").pk)

    answers = {name: client.get(address).status_code for name, address in addresses.items()}

    assert set(answers.values()) <= {302, 403}
    assert answers["changelist"] == answers["add"] == answers["import"] == 403


def test_looking_changes_nothing(admin_client, written):
    before = state()

    for address in pages(obj_of("SOUL.md").pk, obj_of("gone.md").pk).values():
        assert admin_client.get(address).status_code in (200, 302)

    assert state() == before
    assert not LogEntry.objects.exists()


def test_a_host_s_own_registration_wins():
    class Own(AgentFileAdmin):
        pass

    site = admin.AdminSite()
    site.register(AgentFile, Own)
    register_missing(site)

    assert type(site.get_model_admin(AgentFile)) is Own


def test_simple_history_s_own_pages_are_not_there(admin_client, written):
    soul = obj_of("SOUL.md")
    version = soul.history.last().history_id
    own = f"{url('history', soul.pk)}{version}/"
    facts = {field.name: getattr(soul, field.name) for field in AgentFile._meta.fields}
    before = state()

    shown = admin_client.get(own)
    posted = admin_client.post(
        own, {**{name: value or "" for name, value in facts.items()}, "content": "mine"}
    )

    # Django takes the whole for the id of a file, which there is not.
    assert (shown.status_code, posted.status_code) == (302, 302)
    assert shown["Location"] == posted["Location"] == f"{own}change/"
    assert admin_client.get(f"{own}change/")["Location"] == "/admin/"
    assert state() == before
    assert admin_client.get(url("history", soul.pk))["Location"] == url("versions", soul.pk)
    assert not isinstance(admin.site.get_model_admin(AgentFile), SimpleHistoryAdmin)
    assert not admin.site.is_registered(HistoricalAgentFile)


# --- nothing stored is markup --------------------------------------------------------------------

EVIL = """</textarea></title><script>alert("1")</script><img src=x onerror='alert(2)'>"""
NAME = "<script>alert('3') \"&.md"


@pytest.fixture
def evil(db, tenant):
    """Files whose names, contents, actors and reasons are markup, in every state that a page shows."""
    files = FileStore(tenant, "bia", actor=EVIL, reason=EVIL)
    for number in range(4):
        files.write(NAME, f"{EVIL}\n{number}")
        files.write("gone" + NAME, f"{EVIL}\n{number}")
    files.restore(NAME, 1)
    files.write(NAME, f"{EVIL}\n9")
    files.redact(NAME, 2, EVIL)
    files.delete("gone" + NAME)
    return files


def inert(page):
    """Tell whether a page holds no tag of ours-to-be-shown: all scripts are files, and none is ours."""
    assert "<script>" not in page
    assert "onerror='" not in page
    assert "<img src=x" not in page
    assert page.count("<textarea") == page.count("</textarea>")
    assert " style=" not in page
    return True


def test_markup_in_content_name_actor_and_reason_is_inert_on_every_page(admin_client, evil):
    soul, gone = obj_of(NAME), obj_of("gone" + NAME)

    for name, address in pages(soul.pk, gone.pk).items():
        if name in ("raw", "download", "history", "agent export"):
            continue
        page = get(admin_client, address)
        assert inert(page), name
    assert "&lt;script&gt;" in get(admin_client, url("change", soul.pk))
    for address in (
        f"{url('redact', soul.pk)}?version=3",
        agent_url(since="7d"),
        f"{url('diff', soul.pk)}?from=1&to=4",
    ):
        assert inert(get(admin_client, address))


def test_markup_is_inert_in_messages_and_refused_forms_too(admin_client, evil):
    soul, gone = obj_of(NAME), obj_of("gone" + NAME)
    posts = [
        (url("change", soul.pk), {"content": EVIL, "version": "1", "reason": EVIL, "_save": "x"}),
        (url("change", soul.pk), {"content": EVIL, "version": "6", "reason": EVIL, "_look": "x"}),
        (url("change", soul.pk), {"content": EVIL, "version": "6", "reason": EVIL, "_continue": "x"}),
        (url("rename", soul.pk), {"name": EVIL + "\u202e", "version": "7", "reason": EVIL}),
        (url("rename", soul.pk), {"name": "2" + NAME, "version": "7", "reason": EVIL}),
        (url("restore", soul.pk, 1), {"version": "1", "reason": EVIL}),
        (url("restore", soul.pk, 1), {"version": "8", "reason": EVIL}),
        (url("redact", soul.pk), {"version": "4", "reason": EVIL}),
        (url("add"), {"tenant": EVIL, "agent": EVIL, "name": EVIL, "content": EVIL, "reason": EVIL}),
        (url("add"), {"tenant": "acme", "agent": "bia", "name": "3" + NAME, "content": EVIL, "_save": "x"}),
        (url("undelete", gone.pk), {"reason": EVIL}),
        (url("delete", soul.pk), {"version": "9", "reason": EVIL}),
        (agent_url("back"), {**BACK, "file": EVIL, "seen": EVIL, "reason": EVIL, "_back": "x"}),
    ]

    for address, posted in posts:
        page = admin_client.post(address, posted, follow=True).content.decode()
        assert inert(page), address
    assert inert(get(admin_client, "/admin/"))
