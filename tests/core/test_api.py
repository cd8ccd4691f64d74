"""What every REST view shares: error bodies, access, JSON in and out."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.core import exceptions as django_errors
from django.db import InterfaceError, OperationalError, ProgrammingError
from django.http import Http404
from django.http.request import UnreadablePostError
from django.test import RequestFactory
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication, BasicAuthentication
from rest_framework.response import Response
from rest_framework.test import force_authenticate
from rest_framework.throttling import BaseThrottle

from agentstore.core import errors
from agentstore.core.access import Access
from agentstore.core.api import JSONRenderer, StoreView, StoreViewSet, exception_handler

USER = User(pk=7, username="ursula")


class Echo(StoreView):
    """Answers with what it was given."""

    capability = "echo"

    def get(self, request):
        return Response({"tenant": self.tenant, "actor": self.actor, "pairs": self.pairs})

    def post(self, request):
        return Response(request.data)


def call(method="get", path="/", *, view=Echo, user=USER, **extra):
    request = getattr(RequestFactory(), method)(path, **extra)
    if user is not None:
        force_authenticate(request, user)
    response = view.as_view()(request)
    response.render()
    return response


def post(body, content_type="application/json", **extra):
    return call("post", data=body, content_type=content_type, **extra)


def body_of(response):
    return json.loads(response.content)


def shown(error, **headers):
    return exception_handler(error, {"request": RequestFactory().put("/", headers=headers)})


# --- errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.NotFound("m"), 404, "not_found"),
        (errors.Conflict("m"), 409, "conflict"),
        (errors.QuotaExceeded("m"), 409, "quota"),
        (errors.ValidationFailed("m"), 400, "validation"),
        (errors.AlreadyExists("m"), 409, "exists"),
        (errors.TooLarge("m"), 413, "too_large"),
        (errors.PermissionDenied("m"), 403, "permission"),
        (errors.StorageFailed("m"), 503, "storage"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_each_store_error_is_shown_with_its_status_and_code(error, status, code):
    response = shown(error)

    assert response.status_code == status
    assert response.data == {"code": code, "detail": "m"}


def test_every_store_error_that_a_request_can_cause_has_a_status():
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and kind is not errors.BypassRefused
    ]
    kinds = [
        kind
        for kind in kinds
        if issubclass(kind, errors.AgentStoreError) and kind is not errors.AgentStoreError
    ]

    assert len(kinds) == 8
    assert all(shown(kind("m")) is not None for kind in kinds)


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_database_that_fails_while_a_user_is_looked_up_is_a_503(error):
    response = shown(error("could not connect to 10.0.0.1"))

    assert response.status_code == 503
    assert response.data["code"] == "storage" and "10.0.0.1" not in str(response.data)
    assert response.headers["Retry-After"] == "1"


def test_a_database_that_lacks_a_table_is_a_fault_of_ours():
    assert shown(ProgrammingError("no such table")) is None


def test_hint_errors_and_current_version_are_in_the_body():
    assert shown(errors.Conflict("m", hint="h", current_version=3)).data == {
        "code": "conflict", "detail": "m", "hint": "h", "current_version": 3,
    }  # fmt: skip
    assert shown(errors.ValidationFailed("m", errors={"a.0": ["x"]})).data["errors"] == {"a.0": ["x"]}


@pytest.mark.parametrize("headers", [{"If-Match": '"1"'}, {"If-None-Match": "*"}])
def test_a_conflict_is_a_failed_condition_where_one_was_sent(headers):
    assert shown(errors.Conflict("m", current_version=3), **headers).status_code == 412


def test_a_conflict_about_something_else_than_the_version_stays_409():
    assert shown(errors.Conflict("m"), **{"If-Match": '"1"'}).status_code == 409
    assert shown(errors.QuotaExceeded("m"), **{"If-Match": '"1"'}).status_code == 409


def test_what_exists_already_is_a_failed_condition_where_only_creation_was_wanted():
    assert shown(errors.AlreadyExists("m"), **{"If-None-Match": "*"}).status_code == 412
    assert shown(errors.AlreadyExists("m"), **{"If-Match": '"1"'}).status_code == 409


def test_a_failure_that_may_pass_says_when_to_try_again():
    assert shown(errors.StorageFailed("m", retryable=True))["Retry-After"] == "1"
    assert "Retry-After" not in shown(errors.StorageFailed("m"))


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (exceptions.NotAuthenticated(), 401, "not_authenticated"),
        (exceptions.AuthenticationFailed(), 401, "authentication_failed"),
        (exceptions.MethodNotAllowed("GET"), 405, "method_not_allowed"),
        (exceptions.UnsupportedMediaType("a/b"), 415, "unsupported_media_type"),
        (exceptions.Throttled(wait=2), 429, "throttled"),
        (exceptions.ParseError(), 400, "parse_error"),
        (exceptions.PermissionDenied("no", code="mine"), 403, "mine"),
        (Http404(), 404, "not_found"),
        (django_errors.PermissionDenied(), 403, "permission_denied"),
        (django_errors.SuspiciousOperation(), 400, "parse_error"),
        (django_errors.BadRequest(), 400, "parse_error"),
        (UnreadablePostError(), 400, "parse_error"),
        (django_errors.RequestDataTooBig(), 413, "too_large"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_errors_of_rest_framework_and_django_get_the_same_body_and_keep_their_code(error, status, code):
    response = shown(error)

    assert response.status_code == status
    assert response.data["code"] == code
    assert isinstance(response.data["detail"], str)


def test_nested_errors_of_rest_framework_are_flat():
    response = shown(exceptions.ValidationError({"a": ["x", "y"], "b": [{}, {"c": ["z"]}], "d": "w"}))

    assert response.data == {
        "code": "invalid",
        "detail": "x",
        "errors": {"a": ["x", "y"], "b.1.c": ["z"], "d": ["w"]},
    }


def test_a_list_of_errors_stands_under_the_empty_path():
    assert shown(exceptions.ValidationError(["x"])).data["errors"] == {"": ["x"]}
    assert shown(exceptions.ValidationError({})).data["detail"] == "The request does not fit."


@pytest.mark.parametrize(
    "error", [RuntimeError("bug"), errors.BypassRefused("bug"), errors.AgentStoreError("bug")]
)
def test_a_fault_of_ours_is_not_hidden(error):
    assert shown(error) is None


def test_a_wrong_method_is_json_with_the_allowed_ones():
    response = call("delete")

    assert response.status_code == 405
    assert response["Allow"] == "GET, POST, HEAD, OPTIONS"
    assert body_of(response)["code"] == "method_not_allowed"


# --- access ---------------------------------------------------------------------------------


def test_tenant_and_actor_come_from_the_access_class():
    assert body_of(call())["tenant"] == "user:7"
    assert body_of(call())["actor"] == "user:ursula"


def test_every_answer_varies_with_the_tenant_header():
    assert "X-Agentstore-Tenant" in call()["Vary"]
    assert "X-Agentstore-Tenant" in call("delete")["Vary"]


def test_another_tenant_is_refused_with_403(db):
    response = call(user=User.objects.create_user("u"), headers={"X-Agentstore-Tenant": "acme"})

    assert response.status_code == 403
    assert body_of(response)["code"] == "permission"
    assert "agentstore.act_for_tenant" in body_of(response)["hint"]


def test_who_may_act_for_others_names_the_tenant_percent_encoded(db):
    user = User.objects.create_user("u")
    user.user_permissions.add(Permission.objects.get(codename="act_for_tenant"))

    response = call(user=user, headers={"X-Agentstore-Tenant": "Z%C3%BCrich%20AG"})

    assert body_of(response)["tenant"] == "Zürich AG"


@pytest.mark.parametrize("header", ["", "%", "%ff", "a b", "%20a", "a%0Ab", "x" * 256])
def test_a_header_that_names_no_tenant_is_refused_with_400(header):
    response = call(headers={"X-Agentstore-Tenant": header})

    assert response.status_code == 400
    assert body_of(response)["code"] == "validation"


class Basic(Echo):
    authentication_classes = [BasicAuthentication]


def test_nobody_is_asked_for_credentials_where_the_host_wants_some():
    response = call(view=Basic, user=None)

    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Basic")
    assert body_of(response)["code"] == "not_authenticated"


class Open(Echo):
    authentication_classes = []


def test_nobody_is_refused_where_the_host_authenticates_nobody():
    response = call(view=Open, user=None)

    assert response.status_code == 403
    assert body_of(response)["code"] == "permission"


class Quiet(BaseAuthentication):
    def authenticate(self, request):
        return None


class NoHeader(Echo):
    authentication_classes = [Quiet]


def test_nobody_is_refused_with_403_where_there_is_no_challenge_to_send():
    response = call(view=NoHeader, user=None)

    assert response.status_code == 403
    assert body_of(response)["code"] == "not_authenticated"


def test_a_host_without_anonymous_users_works(settings):
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "UNAUTHENTICATED_USER": None}

    assert call(view=Basic, user=None).status_code == 401


class ForAll(Access):
    def tenant(self, user, capability, wanted=None):
        return f"{capability}:{wanted}"

    def allows(self, user, tenant, capability, action):
        return action == "view"


class Adding(Echo):
    def action_of(self, request):
        return "add"


def test_the_access_class_may_let_nobody_in(settings):
    settings.AGENTSTORE = {"ACCESS": f"{__name__}.ForAll"}

    assert body_of(call(view=Open, user=AnonymousUser()))["tenant"] == "echo:None"


def test_the_access_class_decides_by_action(settings):
    settings.AGENTSTORE = {"ACCESS": f"{__name__}.ForAll"}

    response = call(view=Adding)

    assert response.status_code == 403
    assert body_of(response)["detail"] == "You may not add here."


class Never(BaseThrottle):
    def allow_request(self, request, view):
        return False

    def wait(self):
        return 61


class Slow(Echo):
    throttle_classes = [Never]


def test_the_hosts_throttles_hold():
    response = call(view=Slow)

    assert response.status_code == 429
    assert response["Retry-After"] == "61"
    assert body_of(response)["code"] == "throttled"


# --- in and out -----------------------------------------------------------------------------


def test_json_comes_back_as_compact_utf_8():
    response = post('{"a": "ü"}')

    assert response["Content-Type"] == "application/json"
    assert response.content == '{"a":"ü"}'.encode()


def test_a_lone_surrogate_in_an_answer_stays_escaped():
    assert JSONRenderer().render({"a": "\ud800"}) == b'{"a":"\\ud800"}'
    assert JSONRenderer().render(None) == b""


@pytest.mark.parametrize("accept", ["text/html", "application/xml;q=0.9", "nonsense", "*/*", ""])
def test_the_answer_is_json_whatever_is_accepted(accept):
    response = call(path="/?format=html", headers={"Accept": accept})

    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "nonsense",
        "/",
        "a/b/c",
    ],
)
def test_another_content_type_is_refused_with_415(content_type):
    response = post(b"a=1", content_type)

    assert response.status_code == 415
    assert body_of(response)["code"] == "unsupported_media_type"


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "APPLICATION/JSON"])
def test_json_may_say_its_charset(content_type):
    assert post(b'{"a": 1}', content_type).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nope",
        b"\xff",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1, "a": 1}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 5000,
        b'{"a": 1} x',
        b"\xef\xbb\xbf{}",
        '{"a": "ü"}'.encode("utf-16"),
    ],
    ids=lambda body: repr(body[:20]),
)
def test_what_is_no_json_is_refused_with_400(body):
    response = post(body)

    assert response.status_code == 400
    assert body_of(response)["code"] == "validation"


@pytest.mark.parametrize(
    ("text", "value"),
    [("3.0", 3), ("1e3", 1000), ("-0.0", 0), ("1.5", 1.5), ("1e22", 10**22), ("1e-7", 1e-7)],
)
def test_a_number_without_a_fraction_is_whole_however_it_is_written(text, value):
    answered = body_of(post(text))

    assert answered == value
    assert type(answered) is type(value)


@pytest.mark.parametrize("text", ["1e23", "1e300", "-1.7976931348623157e308"])
def test_a_float_beyond_the_whole_numbers_stays_the_float_that_it_is(text):
    """10**23 is another number than the float that is nearest to it."""
    answered = body_of(post(text))

    assert answered == float(text)
    assert type(answered) is float


def test_an_empty_body_is_an_empty_object():
    assert body_of(post(b"")) == {}


def test_a_body_over_the_limit_is_refused_with_413(settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100

    response = post(b'"' + b"x" * 200 + b'"')

    assert response.status_code == 413
    assert body_of(response) == {"code": "too_large", "detail": "The body is over the limit of 100 bytes."}


def test_the_hosts_rest_settings_change_nothing(settings):
    settings.REST_FRAMEWORK = {
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.BrowsableAPIRenderer"],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.FormParser"],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.DjangoModelPermissions"],
        "DEFAULT_VERSIONING_CLASS": "rest_framework.versioning.NamespaceVersioning",
        "DEFAULT_CONTENT_NEGOTIATION_CLASS": "rest_framework.negotiation.DefaultContentNegotiation",
        "EXCEPTION_HANDLER": "nowhere.handler",
    }

    assert post('{"a": 1}').content == b'{"a":1}'
    assert call("delete").status_code == 405


def test_options_say_what_a_view_takes():
    response = call("options")

    assert response.status_code == 200
    assert body_of(response)["parses"] == ["application/json"]


# --- the rest -------------------------------------------------------------------------------


class Set(StoreViewSet):
    capability = "echo"
    access_actions = {"create": "add"}

    def create(self, request):
        return Response(self.read_body(request, known=["a"], ignored=["b"]))


@pytest.mark.parametrize(
    "make", [lambda: Echo.as_view(), lambda: Set.as_view({"post": "create"})], ids=["view", "set"]
)
def test_no_view_is_wrapped_in_a_transaction(make):
    assert "default" in make()._non_atomic_requests


def test_an_unknown_method_is_known_to_the_access_class_as_view():
    view = Set()
    view.action = None

    assert view.action_of(None) == "view"


@pytest.mark.parametrize("body", ["[]", '"a"', "1", "null", "true"])
def test_where_an_object_is_expected_anything_else_is_refused(body):
    request = RequestFactory().post("/", body, "application/json")
    force_authenticate(request, USER)

    response = Set.as_view({"post": "create"})(request)

    assert response.status_code == 400
    assert response.data["detail"].startswith("Expected an object")


def test_a_parameter_that_is_unknown_or_given_twice_is_refused():
    class One(Echo):
        def get(self, request):
            return Response(self.only_params("a"))

    assert call(view=One, path="/?a=1").data == {"a": "1"}
    assert call(view=One, path="/?b=1").data["errors"] == {"b": ["There is no such key."]}
    assert call(view=One, path="/?a=1&a=2").status_code == 400
