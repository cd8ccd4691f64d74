"""The REST API: ``path("api/", include("agentstore.urls"))``."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, re_path
from rest_framework.routers import SimpleRouter

from agentstore.core.api import NoSuchAddressView
from agentstore.entities.api import NoSuchEntityView, index_view, viewset_for
from agentstore.entities.registry import all_entities
from agentstore.files import api as files
from agentstore.strategies import api as strategies
from agentstore.tools import api as tools

app_name = "agentstore"


def _entity_urls() -> list[URLPattern | URLResolver]:
    """Return one branch per entity, so that finding an address does not slow down with their number."""
    found: list[URLPattern | URLResolver] = []
    for model in all_entities():
        router = SimpleRouter(use_regex_path=False)
        router.register("", viewset_for(model), basename=model.entity.name)
        found.append(path(f"entities/{model.entity.name}/", include(router.urls)))
    return found


def _agent_urls() -> list[URLPattern | URLResolver]:
    on_files = {
        "files": files.FileView,
        "versions": files.VersionsView,
        "diff": files.DiffView,
        "restore": files.RestoreView,
        "undelete": files.UndeleteView,
        "rename": files.RenameView,
        "redact": files.RedactView,
    }
    return [
        path("agents/", files.AgentsView.as_view(), name="agents"),
        path("agents/<str:agent>/files/", files.FilesView.as_view(), name="files"),
        path("agents/<str:agent>/archive/", files.ArchiveView.as_view(), name="file-archive"),
        path("agents/<str:agent>/changes/", files.ChangesView.as_view(), name="file-changes"),
        *(
            re_path(  # a name is checked by the store alone: whatever it holds arrives there
                rf"^agents/(?P<agent>[^/]+)/{act}/(?P<name>[\s\S]+)\Z", view.as_view(), name=f"file-{act}"
            )
            for act, view in on_files.items()
        ),
        _nothing_else("agents", "files"),
    ]


def _nothing_else(root: str, capability: str) -> URLPattern:
    """Return the pattern of what no other address below ``root`` matches."""
    nothing: URLPattern = re_path(
        rf"^{root}(?:/[\s\S]*)?\Z", NoSuchAddressView.as_view(capability=capability)
    )
    return nothing


urlpatterns: list[URLPattern | URLResolver] = [
    path("entities/", index_view().as_view(), name="entities"),
    *_entity_urls(),
    *_agent_urls(),
    path("strategies/find/", strategies.FindView.as_view(), name="strategies-find"),
    path("strategies/prune/", strategies.PruneView.as_view(), name="strategies-prune"),
    path("strategies/usage/", strategies.UsageView.as_view(), name="strategies-usage"),
    path("strategies/seed/", strategies.SeedView.as_view(), name="strategies-seed"),
    path("strategies/entries/", strategies.EntriesView.as_view(), name="strategies"),
    path("strategies/entries/<str:id>/", strategies.EntryView.as_view(), name="strategy"),
    _nothing_else("strategies", "strategies"),
    path("tools/", tools.ToolsView.as_view(), name="tools"),
    path("tools/<str:name>/", tools.ToolView.as_view(), name="tool"),
    _nothing_else("tools", "tools"),
    re_path(r"^entities(?:/(?P<rest>[\s\S]*))?\Z", NoSuchEntityView.as_view()),
]
