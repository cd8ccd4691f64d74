"""The import page: what it would do first, then all of it or nothing, by who may."""

from __future__ import annotations

import io
import zipfile

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agentstore.files import FileStore
from agentstore.files.archive import export_zip
from agentstore.files.models import AgentFile
from tests.browser import buttons, read_form, text_of
from tests.files.admin_pages import NoWrites, OnlyAcme, access, agent_url, get, grant, messages_of, state, url

ODD = "\n\ufefflead \r\n\r lone\u2028 sep  "
OWNER = {"tenant": "acme", "agent": "bia"}


@pytest.fixture
def files(db, tenant, actor):
    """SOUL.md and notes/day.md, as somebody wrote them."""
    store = FileStore(tenant, "bia", actor=actor)
    store.write("SOUL.md", "one\ntwo\n")
    store.write("notes/day.md", "x\n")
    return store


def upload(name, content):
    return SimpleUploadedFile(name, content if isinstance(content, bytes) else content.encode())


def zipped(contents):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return upload("files.zip", buffer.getvalue())


def look(client, *uploads, status=200, **values):
    """Choose files, and return the page that says what would happen."""
    response = client.post(url("import"), {**OWNER, "files": list(uploads), "_look": "x", **values})
    assert response.status_code == status
    return response.content.decode()


def confirm(client, page, **values):
    """Press the button that imports what the page shows."""
    return client.post(url("import"), {**read_form(page, "import_form"), "_import": "x", **values})


def steps_of(page):
    rows = page.split("<tbody")[1].split("</tbody>")[0].split("<tr")[1:]
    return [text_of("<tr" + row) for row in rows]


def test_a_zip_is_looked_at_first_and_then_imported_to_the_byte(admin_client, admin_user, files):
    before = state()

    page = look(admin_client, zipped({"SOUL.md": "one\ntwo\n", "IDENTITY.md": ODD, "empty.md": ""}))

    assert state() == before
    assert steps_of(page) == [
        "empty.md Will be created – +0 −0 See the change in empty.md",
        "IDENTITY.md Will be created – +3 −0 See the change in IDENTITY.md",
        "SOUL.md The same already 1 none",
    ]
    assert buttons(page, "import_form")["_import"] == "Write 2 changes"

    answer = confirm(admin_client, page, reason="from the old server")

    assert answer["Location"] == agent_url()
    assert messages_of(answer) == ["Imported into bia: 2 created, 1 the same already."]
    assert files.read("IDENTITY.md") == ODD
    info = files.info("IDENTITY.md")
    assert (info.actor, info.source, info.reason) == ("user:admin", "import", "from the old server")
    assert files.read("empty.md") == ""
    assert files.info("SOUL.md").version == 1
    assert files.info("notes/day.md") is not None


def test_single_files_go_into_the_folder_that_was_named(admin_client, files):
    page = look(
        admin_client, upload("day.md", "y\n"), upload("b.md", ODD), folder="notes/", policy="overwrite"
    )

    assert [line.split(" ")[0] for line in steps_of(page)] == ["notes/day.md", "notes/b.md"]
    confirm(admin_client, page)

    assert files.read("notes/day.md") == "y\n"
    assert files.read("notes/b.md") == ODD


def test_the_folder_can_be_changed_without_a_second_upload(admin_client, files):
    first = look(admin_client, upload("day.md", "y\n"), folder="wrong")

    page = look(admin_client, **{**read_form(first, "import_form"), "folder": "notes/2026"})
    confirm(admin_client, page)

    assert files.read("notes/2026/day.md") == "y\n"
    assert files.info("wrong/day.md") is None


def as_browser_posts(client, *parts, **values):
    """Post a form as a browser does, which names a folder's files by their paths."""
    fields = [(f'name="{name}"', value) for name, value in {**OWNER, "_look": "x", **values}.items()]
    fields += [(f'name="{field}"; filename="{path}"', text) for field, path, text in parts]
    body = "".join(
        f"--B\r\nContent-Disposition: form-data; {head}\r\n\r\n{text}\r\n" for head, text in fields
    )
    return client.generic("POST", url("import"), f"{body}--B--\r\n", "multipart/form-data; boundary=B")


FOLDER = [
    ("folder_files", "bia/SOUL.md", "one\ntwo\n"),
    ("folder_files", "bia/notes/day.md", "y\n"),
    ("folder_files", "bia/notes/deep/day.md", "z"),
    ("folder_files", "bia/.git/config", "never an agent's file"),
]


def test_a_folder_comes_with_the_paths_below_it(admin_client, files):
    page = as_browser_posts(admin_client, ("files", "", ""), *FOLDER, policy="overwrite").content.decode()

    assert [line.split(" ")[0] for line in steps_of(page)] == ["notes/day.md", "notes/deep/day.md", "SOUL.md"]
    confirm(admin_client, page)

    assert {info.name: text for info, text in files.contents()} == {
        "SOUL.md": "one\ntwo\n", "notes/day.md": "y\n", "notes/deep/day.md": "z",
    }  # fmt: skip


@pytest.mark.parametrize("path", ["bia/../../x", "bia//etc/x", "bia/a\u202eb", "bia/./x", "bia/a%2e%2e%2fb"])
def test_a_path_in_a_folder_is_checked_like_every_name(admin_client, files, path):
    before = state()

    page = as_browser_posts(admin_client, ("folder_files", path, "x")).content.decode()

    assert "is not a file name" in text_of(page)
    assert state() == before


def test_a_single_file_has_no_path_whatever_a_browser_sends(admin_client, files):
    parts = [("files", "C:/x/a.md", "x"), ("files", "..", "no file to Django"), *FOLDER[2:3]]
    page = as_browser_posts(admin_client, *parts).content.decode()

    assert [line.split(" ")[0] for line in steps_of(page)] == ["a.md", "notes/deep/day.md"]


@pytest.mark.parametrize("field", ["files", "folder_files"])
def test_a_manifest_of_something_else_is_a_file_like_the_rest(admin_client, files, field):
    path = "x/manifest.json" if field == "folder_files" else "manifest.json"

    page = as_browser_posts(admin_client, (field, path, '{"name": "a browser extension"}')).content.decode()
    confirm(admin_client, page)

    assert files.read("manifest.json") == '{"name": "a browser extension"}'


def test_a_folder_is_refused_where_its_paths_were_lost(admin_client, files, settings):
    """Some middleware of the host had the form parsed before: names alone would mix the files up."""
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.files.test_admin_transfer.read_early"]

    assert "Pack the folder as a zip." in text_of(as_browser_posts(admin_client, *FOLDER).content.decode())
    assert steps_of(as_browser_posts(admin_client, ("files", "a.md", "x")).content.decode())


def read_early(get_response):
    """A middleware that looks into every form."""

    def middleware(request):
        request.POST.get("x")
        return get_response(request)

    return middleware


def test_files_in_the_way_are_shown_with_their_difference_and_there_is_no_button(admin_client, files):
    page = look(admin_client, upload("SOUL.md", "one\nthree\n"), upload("new.md", "n"))

    assert "1 file is in the way" in text_of(page)
    assert steps_of(page)[0].startswith("SOUL.md in the way It is there with another content. 1 +1 −1")
    assert "_import" not in buttons(page, "import_form")
    assert confirm(admin_client, page).status_code == 200
    assert files.info("new.md") is None


@pytest.mark.parametrize(
    ("policy", "told", "text"),
    [
        ("skip", "1 created, 1 left alone", "one\ntwo\n"),
        ("overwrite", "1 created, 1 replaced", "one\nthree\n"),
        ("seed", "1 created, 1 left alone", "one\ntwo\n"),
    ],
)
def test_looking_again_with_another_policy_needs_no_second_upload(admin_client, files, policy, told, text):
    first = look(admin_client, upload("SOUL.md", "one\nthree\n"), upload("new.md", "n"))

    page = look(admin_client, **{**read_form(first, "import_form"), "policy": policy})
    answer = confirm(admin_client, page)

    assert messages_of(answer) == [f"Imported into bia: {told}."]
    assert files.read("SOUL.md") == text
    assert files.read("new.md") == "n"


def test_other_files_go_only_when_that_was_ticked(admin_client, files):
    page = look(admin_client, upload("SOUL.md", "one\ntwo\n"), prune="1")

    assert steps_of(page)[0].startswith("notes/day.md Not among the files. Will be deleted")
    confirm(admin_client, page)

    assert [info.name for info in files.list()] == ["SOUL.md"]
    assert [gone.name for gone in files.deleted()] == ["notes/day.md"]


def test_nothing_to_do_is_said_and_has_no_button(admin_client, files):
    page = look(admin_client, upload("SOUL.md", "one\ntwo\n"))

    assert "Nothing to import: no file would change." in text_of(page)
    assert "_import" not in buttons(page, "import_form")


def test_an_export_is_imported_into_a_new_agent_of_another_tenant(admin_client, files):
    given = {"tenant": "globex", "agent": " ada "}

    page = look(admin_client, upload("bia.ZIP", export_zip(files)), **given)
    confirm(admin_client, page)

    there = FileStore("globex", "ada")
    assert [(info.name, there.read(info.name)) for info in there.list()] == [
        ("SOUL.md", "one\ntwo\n"),
        ("notes/day.md", "x\n"),
    ]


@pytest.mark.parametrize("change", ["SOUL.md", "new.md", "other options"])
def test_what_changed_since_the_look_is_shown_again_and_not_written(admin_client, files, change):
    page = look(admin_client, upload("SOUL.md", "mine\n"), upload("new.md", "n"), policy="overwrite")
    if change != "other options":
        files.write(change, "theirs\n")
    before = state()

    answer = confirm(admin_client, page, **({"prune": "1"} if change == "other options" else {}))

    assert answer.status_code == 409
    assert state() == before
    again = answer.content.decode()
    assert "Files changed since you looked. Nothing was written." in text_of(again)
    assert confirm(admin_client, again).status_code == 302
    assert files.read("SOUL.md") == "mine\n"


@pytest.mark.parametrize(
    ("uploads", "values", "told"),
    [
        ([], {}, "No files were chosen."),
        ([("a.md", b"\xff")], {}, "not valid UTF-8"),
        ([("a.md", b"a\0")], {}, "NUL"),
        ([("a.md", b"x" * 102_401)], {}, "102,401 bytes; the limit is 102,400"),
        ([("a.md", b"a"), ("A.md", b"b")], {}, "capitals aside"),
        ([("a.zip", b"no zip")], {}, "The zip can't be read"),
        ([("a.zip", b"x"), ("b.md", b"y")], {}, "A zip was chosen beside other files."),
        ([("a.md", b"a")], {"folder": "../x"}, "it has a segment . or .."),
        ([("a.md", b"a")], {"folder": "/"}, "starts or ends with a slash"),
        ([("a.md", b"a")], {"tenant": " acme"}, "Name the tenant that the files are for."),
        ([("a.md", b"a")], {"agent": "no agent"}, "is not an agent id"),
        ([], {"packed": "forged"}, "No files were chosen."),
    ],
)
def test_what_can_not_be_imported_is_refused_with_the_reason(admin_client, files, uploads, values, told):
    before = state()

    page = look(admin_client, *[upload(*each) for each in uploads], **values)

    assert told in text_of(page)
    assert "<tbody" not in page
    assert state() == before


def test_the_queries_of_the_look_do_not_grow_with_the_files(admin_client, files):
    def queries(count):
        with CaptureQueriesContext(connection) as found:
            look(admin_client, *(upload(f"{n}.md", f"{count}") for n in range(count)), policy="overwrite")
        return len(found)

    for n in range(9):
        files.write(f"{n}.md", "x")

    assert queries(2) == queries(9)


def test_a_path_out_of_the_zip_is_refused(admin_client, files):
    assert "it has a segment . or .." in text_of(look(admin_client, zipped({"../SOUL.md": "x"})))


def test_what_a_page_can_not_carry_is_for_the_command(admin_client, files, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 101_000

    page = look(admin_client, upload("a.md", "".join(f"{n * n:x}" for n in range(20_000))[:90_000]))

    assert "Import them with manage.py agentstore_files_import." in text_of(page)


def test_uploads_that_no_agent_has_room_for_are_not_even_read(admin_client, files, monkeypatch):
    monkeypatch.setattr("agentstore.files.admin.uploading.OVERHEAD", -16 * 1024 * 1024)

    assert "These files have more than 0 bytes together." in text_of(look(admin_client, upload("a.md", "x")))


def test_an_agent_without_room_is_told_before_anything_is_written(admin_client, files, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_FILES": 2}

    assert "has no room for all of them: 3 of 2 files" in text_of(look(admin_client, upload("new.md", "x")))


def test_each_file_that_changed_has_an_entry_in_the_log(admin_client, files):
    page = look(
        admin_client, upload("SOUL.md", "other\n"), upload("new.md", "n"), policy="overwrite", prune="1"
    )
    confirm(admin_client, page, reason="moved")

    entries = {(e.object_repr, e.action_flag, e.change_message) for e in LogEntry.objects.all()}
    assert entries == {
        ("bia: SOUL.md", CHANGE, "Imported. Reason: moved"),
        ("bia: new.md", ADDITION, "Imported. Reason: moved"),
        ("bia: notes/day.md", DELETION, "Imported. Reason: moved"),
    }


# --- who may -------------------------------------------------------------------------------------


def sign_in(client, staff, *actions):
    staff.user_permissions.clear()
    grant(staff, "view", *actions, model=AgentFile)
    client.force_login(type(staff).objects.get(pk=staff.pk))
    return client


EVERYTHING = {"add", "change", "delete", "import"}


@pytest.mark.parametrize("missing", sorted(EVERYTHING))
def test_an_import_takes_its_own_permission_and_those_of_its_steps(client, staff, files, missing):
    chosen = {"policy": "overwrite", "prune": "1"}
    sign_in(client, staff, *EVERYTHING)
    page = look(client, upload("SOUL.md", "other\n"), upload("new.md", "n"), **chosen)
    before = state()

    sign_in(client, staff, *(EVERYTHING - {missing}))

    assert confirm(client, page).status_code == 403
    assert state() == before
    if missing == "import":
        assert client.get(url("import")).status_code == 403
        assert url("import") not in get(client, agent_url()) + get(client, url("changelist"))
    else:
        again = look(client, upload("SOUL.md", "other\n"), upload("new.md", "n"), **chosen)
        assert "You may not do all of this." in text_of(again)
        assert again.count("not allowed") == 1
        assert "_import" not in buttons(again, "import_form")
    sign_in(client, staff, *EVERYTHING)
    assert confirm(client, page).status_code == 302


def test_the_access_class_is_asked(admin_client, settings, files):
    access(settings, NoWrites)

    assert admin_client.post(url("import"), {**OWNER, "files": [upload("a.md", "a")]}).status_code == 403


def test_files_go_to_no_tenant_that_the_user_may_not_see(admin_client, settings, files):
    access(settings, OnlyAcme)

    answer = admin_client.post(url("import"), {**OWNER, "tenant": "globex", "files": [upload("a.md", "a")]})

    assert answer.status_code == 403
    assert "globex" not in get(admin_client, url("import"))


def test_a_form_of_another_site_imports_nothing(admin_user, files):
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin_user)

    posted = {**OWNER, "files": [upload("a.md", "a")], "_look": "x"}

    assert client.post(url("import"), posted).status_code == 403

    token = read_form(get(client, url("import")), "import_form")["csrfmiddlewaretoken"]
    wrong = {"csrfmiddlewaretoken": token[::-1], "files": [upload("a.md", "a")]}
    assert client.post(url("import"), {**posted, **wrong}).status_code == 403
    right = {"csrfmiddlewaretoken": token, "files": [upload("a.md", "a")]}
    assert client.post(url("import"), {**posted, **right}).status_code == 200


def test_the_page_is_offered_where_files_are_listed(admin_client, files):
    assert f"{url('import')}?tenant=acme&amp;agent=bia" in get(admin_client, agent_url())
    assert f"{url('import')}?tenant=acme" in get(admin_client, url("changelist") + "?tenant=acme")
    assert "Import files into bia" in get(admin_client, f"{url('import')}?tenant=acme&agent=bia")
    assert 'name="agent"' in get(admin_client, url("import"))


def test_markup_in_what_is_imported_is_inert(admin_client, files):
    evil = '<script>alert("1")</script></textarea>'

    page = look(admin_client, zipped({f"{evil.replace('/', '')}.md": evil}), folder=evil, reason=evil)

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
