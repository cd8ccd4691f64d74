"""Public tables that agents look things up in; the fields are named as in their files.

The files are ``airports.csv`` and ``cars.json`` of the package ``vega-datasets``.
"""

from __future__ import annotations

from datetime import date

from pydantic import Field

from agentstore.entities import EntityModel, EntitySchema

__all__ = ["Airport", "Car"]


class AirportData(EntitySchema):
    """One airport."""

    iata: str = Field(min_length=3, max_length=4, title="IATA", description="The code, such as JFK.")
    name: str = Field(max_length=200)
    city: str = Field(max_length=200)
    state: str = Field(max_length=200, description="Two letters; NA outside the states.")
    country: str = Field(max_length=200)
    latitude: float = Field(ge=-90, le=90)
    longitude: float = Field(ge=-180, le=180)


class Airport(EntityModel):
    """Airports of the United States and their territories, with their position."""

    Schema = AirportData

    class Entity:
        name = "airports"
        indexes = ["iata", "name", "city", "state", "latitude"]


class CarData(EntitySchema):
    """One model of one year."""

    Name: str = Field(max_length=200)
    Miles_per_Gallon: float | None = None
    Cylinders: int
    Displacement: float
    Horsepower: int | None = None
    Weight_in_lbs: int
    Acceleration: float
    Year: date
    Origin: str = Field(max_length=200)


class Car(EntityModel):
    """Cars of the years 1970 to 1982, with what was measured of them."""

    Schema = CarData

    class Entity:
        name = "cars"
        indexes = ["Name", "Miles_per_Gallon", "Cylinders", "Horsepower", "Year", "Origin"]
