"""The REST API: ``path("api/", include("agentstore.urls"))``."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path, re_path
from rest_framework.routers import SimpleRouter

from agentstore.entities.api import NoSuchEntityView, index_view, viewset_for
from agentstore.entities.registry import all_entities

app_name = "agentstore"


def _entity_urls() -> list[URLPattern | URLResolver]:
    router = SimpleRouter(use_regex_path=False)
    for model in all_entities():
        router.register(f"entities/{model.entity.name}", viewset_for(model), basename=model.entity.name)
    return router.urls


urlpatterns: list[URLPattern | URLResolver] = [
    path("entities/", index_view().as_view(), name="entities"),
    *_entity_urls(),
    re_path(r"^entities(?:/(?P<rest>[\s\S]*))?\Z", NoSuchEntityView.as_view()),
]
