"""Only the REST surface: what ``ROOT_URLCONF`` is while REST is measured."""

from django.urls import include, path

urlpatterns = [path("api/", include("agentstore.urls"))]
