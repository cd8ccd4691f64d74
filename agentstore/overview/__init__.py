"""The operators' overview: one page about what all tenants keep, what changed last, what went wrong."""
