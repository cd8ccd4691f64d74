"""The demo's data: invented companies, and weeks of work of their agents and people."""
