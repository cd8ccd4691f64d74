"""A few airports for the travel company; the whole table is a file to import."""

from __future__ import annotations

from agentstore.core.values import JSONObject

__all__ = ["airports"]

_TABLE = """
ATL|William B Hartsfield-Atlanta Intl|Atlanta|GA|33.64044444|-84.42694444
BOS|Gen Edw L Logan Intl|Boston|MA|42.3643475|-71.00517917
DEN|Denver Intl|Denver|CO|39.85840806|-104.6670019
DFW|Dallas-Fort Worth International|Dallas-Fort Worth|TX|32.89595056|-97.0372
HNL|Honolulu International|Honolulu|HI|21.31869111|-157.9224072
IAD|Washington Dulles International|Chantilly|VA|38.94453194|-77.45580972
JFK|John F Kennedy Intl|New York|NY|40.63975111|-73.77892556
LAX|Los Angeles International|Los Angeles|CA|33.94253611|-118.4080744
LGA|LaGuardia|New York|NY|40.77724306|-73.87260917
MCO|Orlando International|Orlando|FL|28.42888889|-81.31602778
MIA|Miami International|Miami|FL|25.79325|-80.29055556
MSY|New Orleans International|New Orleans|LA|29.99338889|-90.25802778
ORD|Chicago O'Hare International|Chicago|IL|41.979595|-87.90446417
SAN|San Diego International-Lindbergh|San Diego|CA|32.73355611|-117.1896567
SEA|Seattle-Tacoma Intl|Seattle|WA|47.44898194|-122.3093131
SFO|San Francisco International|San Francisco|CA|37.61900194|-122.3748433
"""


def airports() -> list[JSONObject]:
    """Return the airports as they are stored."""
    rows = (line.split("|") for line in _TABLE.strip().splitlines())
    return [
        {
            "iata": iata,
            "name": name,
            "city": city,
            "state": state,
            "country": "USA",
            "latitude": float(latitude),
            "longitude": float(longitude),
        }
        for iata, name, city, state, latitude, longitude in rows
    ]
