"""A real browser for tests: Chromium, driven by Playwright; tests are skipped where one is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.urls import reverse

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
PATIENCE = 120  # seconds; a busy machine is slow, never wrong
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on the PATH")


class Browser:
    """One page of a Chromium, driven from a thread of its own: its event loop is not the ORM's."""

    def __init__(self, pool: ThreadPoolExecutor, **options) -> None:
        self.pool, self.options = pool, options

    def start(self):
        self.playwright = sync_api.sync_playwright().start()
        self.chromium = self.playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-dev-shm-usage"],
            timeout=PATIENCE * 1000,
        )
        self.page = self.chromium.new_context(**self.options).new_page()
        self.page.set_default_timeout(PATIENCE * 1000)

    def stop(self):
        self.chromium.close()
        self.playwright.stop()

    def do(self, steps, *, timeout=5 * PATIENCE):
        """Run ``steps(page)`` in the browser's thread and return what it returns."""
        return self.pool.submit(lambda: steps(self.page)).result(timeout=timeout)


@contextmanager
def opened(base: str, **options) -> Iterator[Browser]:
    """Yield a browser on a site; the options are those of a Playwright context."""
    with ThreadPoolExecutor(1) as pool:
        browser = Browser(pool, base_url=base, **options)
        pool.submit(browser.start).result(timeout=2 * PATIENCE)
        try:
            yield browser
        finally:
            pool.submit(browser.stop).result(timeout=2 * PATIENCE)


def sign_in(page):
    """Enter the admin as the superuser of pytest-django."""
    page.goto(reverse("admin:login"))
    page.fill("#id_username", "admin")
    page.fill("#id_password", "password")
    press(page, "input[type=submit]")


def press(page, what):
    """Click what leads to another page and wait until that page is loaded: a click alone does not."""
    with page.expect_navigation():
        page.click(what)
