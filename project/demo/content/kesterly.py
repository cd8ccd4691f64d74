"""The words of Kesterly."""

from __future__ import annotations

from project.demo.content.kinds import Content, lines, products

__all__ = ["CONTENT"]

CONTENT = Content(
    agents=("concierge",),
    people=("ilse",),
    reminders=70,
    orders=35,
    notes=66,
    customers=lines("""
        Family Andersson
        Mr and Mrs Whitfield
        Kowalczyk wedding party
        Delacroix Architects
        Choir of St. Olave
        Hiking club Edelweiß
        Dr. Tanaka
        Bluebell School, year 10
    """),
    things=lines("""
        visa form
        seats together
        airport transfer
        ferry to the island
        vegetarian menu
        passport copy
        museum tickets
        late check-out
        travel insurance
        train to the airport
    """),
    contacts=lines("""
        Astrid Andersson
        Barnaby Whitfield
        Zofia Kowalczyk
        Hugo Delacroix
        Margaret Olave-Smith
        Sepp Gruber
        Haruki Tanaka
        Ruth Bluebell
        Leif Sørensen
        Chioma Eze
        Alejandra Ruiz
        Pavel Dvořák
    """),
    tasks=lines("""
        {customer}: {thing} still missing
        Book the {thing} for {customer}
        Send {customer} the {thing}
        Ask {customer} about the {thing}
        Check the price of the {thing} again for {customer}
    """),
    products=products("""
        FL-EC  | Flight, economy, return         | 389.00 | 6
        HT-DB  | Hotel, double room, per night   | 128.00 | 14
        TR-AP  | Airport transfer                | 34.00  | 4
        IN-TR  | Travel insurance, per person     | 21.50  | 6
        EX-DAY | Day trip with guide             | 76.00  | 8
        RW-2   | Railway ticket, second class     | 58.40  | 8
    """),
    tags=("honeymoon", "group", "vegetarian", "step-free", "with-children", "last-minute"),
    lessons=lines("""
        Window seats, always, and near the front.
        Allergic to feathers: ask the hotel for other pillows.
        Answers on Sundays only.
        The ferry does not run in a west wind; keep a night spare.
        Wants every price with and without breakfast.
    """),
    streets=("Station Road", "Harbour Parade", "Via Roma", "Rue du Lac"),
    places=(("1204", "Kesterly"), ("1820", "Montvert"), ("6900", "Lagosecco")),
)
