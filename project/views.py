"""The demo's home page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

__all__ = ["home"]


def home(request: HttpRequest) -> HttpResponse:
    """Show what this is, where to go and what is inside."""
    return render(request, "home.html")
