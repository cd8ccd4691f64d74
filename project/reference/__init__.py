"""The demo's second app: public tables, imported from files."""
