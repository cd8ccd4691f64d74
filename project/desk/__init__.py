"""The demo's first app: what agents at a front desk keep for people."""
