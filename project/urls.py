"""The demo's addresses: home, admin, the REST API, its schema and its documentation."""

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from project import views

urlpatterns = [
    path("", views.home, name="home"),
    path("example/", views.example, name="example"),
    path("readme/", views.readme, name="readme"),
    path("admin/", admin.site.urls),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    path("api/", include("agentstore.urls")),
]
