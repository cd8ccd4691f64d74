"""The demo's home page before there is any data."""

from __future__ import annotations

from django.urls import reverse


def test_an_empty_database_is_told_how_to_be_filled(db, client):
    text = client.get(reverse("home")).content.decode()

    assert "<code>python manage.py demo</code>" in text
    assert "Five things to try" not in text
