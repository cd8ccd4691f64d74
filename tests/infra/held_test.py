"""One test that never ends by itself. ``test_launcher`` runs it and kills it; pytest does not collect it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from django.db import connection


def test_hold_the_server(db):
    host = connection.settings_dict["HOST"]
    pid = (Path(host) / "data" / "postmaster.pid").read_text().split()[0]
    part = Path(os.environ["NOTE"] + ".part")

    part.write_text(f"{host} {pid}")
    part.rename(os.environ["NOTE"])

    time.sleep(300)
