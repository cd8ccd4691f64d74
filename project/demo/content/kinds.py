"""The kinds of words that a company has, and how they are written down."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Content", "Product", "lines", "products"]


@dataclass(frozen=True, kw_only=True)
class Product:
    """Something that a company orders or sells."""

    sku: str
    description: str
    price: str
    most: int


@dataclass(frozen=True, kw_only=True)
class Content:
    """The words of one company; ``{customer}`` and ``{thing}`` in a sentence are replaced."""

    agents: tuple[str, ...]
    people: tuple[str, ...]
    reminders: int
    orders: int
    notes: int
    customers: tuple[str, ...]
    things: tuple[str, ...]
    contacts: tuple[str, ...]
    tasks: tuple[str, ...]
    products: tuple[Product, ...]
    tags: tuple[str, ...]
    lessons: tuple[str, ...]
    streets: tuple[str, ...]
    places: tuple[tuple[str, str], ...]


def products(text: str) -> tuple[Product, ...]:
    """Return the products of a table, one a line: number, description, price, most of it at once."""
    rows = (line.split("|") for line in text.strip().splitlines())
    return tuple(
        Product(sku=sku.strip(), description=name.strip(), price=price.strip(), most=int(most))
        for sku, name, price, most in rows
    )


def lines(text: str) -> tuple[str, ...]:
    """Return the lines of a text."""
    return tuple(line.strip() for line in text.strip().splitlines())
