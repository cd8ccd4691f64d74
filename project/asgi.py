"""The ASGI application of the demo project: Django, and beside it the tools over MCP at ``/mcp``.

MCP needs the extra ``[mcp]``; ``manage.py drf_create_token NAME`` makes a token.
"""

import os
from importlib.util import find_spec

from django.core.asgi import get_asgi_application

from agentstore.tools import mcp

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

django = get_asgi_application()
application = mcp.mcp_app(django, writable=["notes/*"]) if find_spec("mcp") else django
