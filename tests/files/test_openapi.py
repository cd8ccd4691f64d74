"""The OpenAPI of agent files: complete, and true to what the views do."""

import pytest

from agentstore.files import FileStore
from tests.files.test_archive import make_zip
from tests.openapi import ERROR, check_answer, check_body, document, operations, references

AGENT = "/api/agents/{agent}/"
EXPECTED = {
    ("get", "/api/agents/"): ("agents_list", "200 400 401 403 503"),
    ("get", f"{AGENT}files/"): ("files_list", "200 400 401 403 503"),
    ("get", f"{AGENT}files/{{name}}"): ("files_retrieve", "200 304 400 401 403 404 503"),
    ("put", f"{AGENT}files/{{name}}"): (
        "files_write",
        "200 201 400 401 403 404 409 412 413 415 503",
    ),
    ("delete", f"{AGENT}files/{{name}}"): ("files_destroy", "204 400 401 403 404 412 503"),
    ("get", f"{AGENT}versions/{{name}}"): ("files_versions", "200 400 401 403 404 503"),
    ("get", f"{AGENT}diff/{{name}}"): ("files_diff", "200 400 401 403 404 503"),
    ("post", f"{AGENT}restore/{{name}}"): ("files_restore", "200 400 401 403 404 409 412 413 415 503"),
    ("post", f"{AGENT}undelete/{{name}}"): ("files_undelete", "200 400 401 403 404 409 413 415 503"),
    ("post", f"{AGENT}rename/{{name}}"): ("files_rename", "200 400 401 403 404 409 412 413 415 503"),
    ("post", f"{AGENT}redact/{{name}}"): ("files_redact", "204 400 401 403 404 413 415 503"),
    ("get", f"{AGENT}changes/"): ("files_changes", "200 400 401 403 503"),
    ("get", f"{AGENT}archive/"): ("files_export", "200 400 401 403 503"),
    ("post", f"{AGENT}archive/"): ("files_import", "200 400 401 403 409 413 415 503"),
}


@pytest.fixture
def own(user):
    """The files that the client's user owns."""
    return FileStore(f"user:{user.pk}", "bia")


@pytest.fixture
def redactor(admin_user, api_client):
    """A client whose user may blank texts out, and that user's files."""
    client = api_client.__class__()
    client.force_authenticate(admin_user)
    client.own = FileStore(f"user:{admin_user.pk}", "bia")
    return client


def test_every_operation_is_there_with_its_id_and_statuses():
    found = {
        key: (operation["operationId"], " ".join(operation["responses"]))
        for key, operation in operations("/api/agents/").items()
    }

    assert found == EXPECTED


def test_every_operation_is_described_and_takes_the_tenant_header():
    for operation in operations("/api/agents/").values():
        assert operation["summary"] and operation["security"] and operation["tags"] == ["files"]
        assert "X-Agentstore-Tenant" in [p["name"] for p in operation["parameters"] if p["in"] == "header"]
        assert all(parameter.get("description") for parameter in operation["parameters"])


def test_every_reference_leads_somewhere():
    for reference in references(document()):
        assert reference.removeprefix("#/components/schemas/") in document()["components"]["schemas"]


def test_every_error_has_the_body_of_every_rest_error():
    for operation in operations("/api/agents/").values():
        for status, response in operation["responses"].items():
            assert status[0] not in "45" or response["content"] == {"application/json": {"schema": ERROR}}


@pytest.mark.parametrize(
    ("key", "names"),
    [
        (("get", "files/"), "prefix"),
        (("get", "files/{name}"), "version If-None-Match"),
        (("put", "files/{name}"), "reason If-Match If-None-Match X-Agentstore-Reason"),
        (("delete", "files/{name}"), "reason If-Match If-None-Match X-Agentstore-Reason"),
        (("get", "diff/{name}"), "a b"),
        (("post", "restore/{name}"), "If-Match If-None-Match X-Agentstore-Reason"),
        (("post", "rename/{name}"), "If-Match If-None-Match X-Agentstore-Reason"),
        (("get", "changes/"), "since until"),
        (("post", "archive/"), "policy prune dry_run reason X-Agentstore-Reason"),
    ],
    ids=str,
)
def test_query_parameters_and_conditions_are_listed(key, names):
    found = operations(AGENT)[key[0], AGENT + key[1]]["parameters"]

    assert " ".join(p["name"] for p in found if p["in"] != "path") == f"{names} X-Agentstore-Tenant"


@pytest.mark.parametrize(
    ("key", "types"),
    [
        (("put", "files/{name}"), ["application/json", "text/markdown", "text/plain"]),
        (("post", "rename/{name}"), ["application/json"]),
        (("post", "archive/"), ["application/zip"]),
    ],
    ids=str,
)
def test_the_media_types_of_bodies_are_listed(key, types):
    operation = operations(AGENT)[key[0], AGENT + key[1]]

    assert list(operation["requestBody"]["content"]) == types


@pytest.mark.django_db
def test_answers_are_as_described(api_client, own):
    """A file's life, each answer held against the document."""
    base = "/api/agents/bia/"
    file, one = f"{AGENT}files/{{name}}", f"{base}files/notes/day.md"

    def get(path, described, **headers):
        check_answer(api_client.get(path, headers=headers), "get", described)

    def put(**headers):
        return api_client.put(one, data=b"two\n", content_type="text/markdown", headers=headers)

    check_answer(put(**{"If-Match": "*"}), "put", file)
    check_answer(api_client.put(one, data={"content": "one\n"}, format="json"), "put", file)
    check_answer(put(), "put", file)
    check_answer(put(**{"If-None-Match": "*"}), "put", file)
    check_answer(api_client.put(one, data=b"x", content_type="image/png"), "put", file)
    check_answer(api_client.put(one, data=b"x" * 200_000, content_type="text/plain"), "put", file)
    check_answer(
        api_client.put(f"{base}files/NOTES/day.md", data=b"", content_type="text/plain"), "put", file
    )
    get(one, file)
    get(one, file, accept="text/markdown")
    get(f"{one}?version=1", file)
    get(f"{one}?version=9", file)
    get(one, file, **{"if-none-match": '"2"'})
    get("/api/agents/", "/api/agents/")
    get(f"{base}files/", f"{AGENT}files/")
    get(f"{base}files/?prefix=%00", f"{AGENT}files/")
    get(f"{base}versions/notes/day.md", f"{AGENT}versions/{{name}}")
    get(f"{base}diff/notes/day.md?a=1", f"{AGENT}diff/{{name}}")
    for body in ({"version": 1, "reason": None}, {"version": 1}, {"version": 9}, {}):
        response = api_client.post(f"{base}restore/notes/day.md", data=body, format="json")
        check_answer(response, "post", f"{AGENT}restore/{{name}}")
    for to in ("b.md", "../b", "b.md"):
        response = api_client.post(f"{base}rename/notes/day.md", data={"to": to}, format="json")
        check_answer(response, "post", f"{AGENT}rename/{{name}}")
    for _ in range(2):
        check_answer(api_client.delete(f"{base}files/b.md?reason=old"), "delete", file)
    for _ in range(2):
        response = api_client.post(f"{base}undelete/b.md")
        check_answer(response, "post", f"{AGENT}undelete/{{name}}")
    get(f"{base}changes/?since=2020-01-01T00:00:00Z", f"{AGENT}changes/")
    get(f"{base}archive/", f"{AGENT}archive/")
    for query in ("", "?policy=seed&prune=true", "?policy=overwrite&dry_run=true"):
        zipped = make_zip(("b.md", "other"), ("c.md", "new"))
        response = api_client.generic("POST", f"{base}archive/{query}", zipped, "application/zip")
        check_answer(response, "post", f"{AGENT}archive/")


@pytest.mark.django_db
def test_a_redacted_version_is_as_described(redactor):
    for text in ("secret", "clean"):
        redactor.own.write("a.md", text)
    path, body = "/api/agents/bia/redact/a.md", {"version": 1, "reason": "a key"}

    done = redactor.post(path, data=body, format="json")
    listed = redactor.get("/api/agents/bia/versions/a.md")

    assert done.status_code == 204 and listed.json()["results"][0]["redacted"] is True
    check_answer(done, "post", f"{AGENT}redact/{{name}}")
    check_answer(listed, "get", f"{AGENT}versions/{{name}}")
    check_body(body, "post", f"{AGENT}redact/{{name}}")


@pytest.mark.django_db
def test_what_is_read_may_be_written_by_the_document_too(api_client, own):
    own.write("a.md", "x")
    url = "/api/agents/bia/files/a.md"
    shown = api_client.get(url).json()

    check_body(shown, "put", f"{AGENT}files/{{name}}")
    check_answer(api_client.put(url, data=shown, format="json"), "put", f"{AGENT}files/{{name}}")


@pytest.mark.django_db
def test_a_reason_that_is_too_long_is_refused_even_where_nothing_is_written(api_client):
    path = f"/api/agents/bia/archive/?reason={'x' * 2001}"

    response = api_client.generic("POST", path, make_zip(), "application/zip")

    assert response.status_code == 400 and "reason" in response.json()["errors"]


HEADERS = {"X-Agentstore-Reason": "tidied%20up", "X-Agentstore-Context": '{"run":"8f2c"}'}


@pytest.mark.django_db
def test_why_and_in_which_run_may_stand_in_headers(api_client, own):
    for query, body in (("", b"one"), ("?reason=better", b"two")):
        api_client.put(f"/api/agents/bia/files/a.md{query}", body, content_type="text/plain", headers=HEADERS)

    versions = [own.info("a.md"), *own.versions("a.md")]
    assert [(item.reason, item.context) for item in versions] == [
        ("better", {"run": "8f2c"}),
        ("tidied up", {"run": "8f2c"}),
    ]


@pytest.mark.django_db
def test_a_reason_in_a_header_that_can_not_be_read_is_refused(api_client, own):
    headers = {"X-Agentstore-Reason": "100 %"}

    response = api_client.put("/api/agents/bia/files/a.md", b"x", content_type="text/plain", headers=headers)

    assert response.status_code == 400 and own.list() == []
