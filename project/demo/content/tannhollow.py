"""The words of Tannhollow."""

from __future__ import annotations

from project.demo.content.kinds import Content, lines, products

__all__ = ["CONTENT"]

CONTENT = Content(
    agents=("bia", "dispatch", "customs"),
    people=("maren", "tobi"),
    reminders=190,
    orders=90,
    notes=45,
    customers=lines("""
        Wexbury Boatyard
        Palgrove Tiles
        Harrowgate Looms
        Ostermann & Söhne
        Copperfield Clocks
        Norrland Trä AB
        Quillon Bicycles
        Maison Verdier
        Thistledown Wool
        Bremer Kaffeekontor
        Saltmarsh Oysters
        Ferro & Figli
    """),
    things=lines("""
        wet crates
        broken pallet
        signed delivery note
        missing EUR.1
        November storage invoice
        tail lift booking
        customs value
        weighbridge slip
        second delivery attempt
        slot at the ramp
        pallet exchange
        packing list
        insurance certificate
        photos of the damage
        proof of origin
    """),
    contacts=lines("""
        Ines Abendroth
        Piet van der Meulen
        Solveig Nyström
        Matteo Ferro
        Claire Verdier
        Jonas Ostermann
        Agnieszka Wrona
        Bram Oosterhuis
        Halvard Lie
        Ewa Sikora
        Tomás Quiroga
        Nadia Bensaïd
        Rory McAllister
        Yuki Tanabe
        Lena Fischbach
        Oskar Lindqvist
        Giulia Conti
        Pedro Almeida
        Katrin Vogt
        Sean Whitlock
        Marta Kowal
        Dirk Hansen
        Elif Aydın
        Felix Brandt
    """),
    tasks=lines("""
        Call {customer} about the {thing}
        Send {customer} the {thing}
        Ask dispatch about the {thing} of {customer}
        {customer}: confirm the {thing} in writing
        Check the {thing} for {customer} before the truck leaves
        Remind {customer} of the {thing}
        Second try: {thing}, {customer}
    """),
    products=products("""
        PN-0417 | Upright piano, walnut             | 2450.00 | 1
        BX-22   | Moving box, double wall           | 2.35    | 60
        ST-9    | Stretch film, 500 mm              | 11.90   | 12
        PL-EUR  | Euro pallet, exchange             | 14.50   | 33
        LA-50   | Lashing strap, 5 t                | 18.20   | 20
        CR-140  | Wooden crate, 140 x 80 x 90 cm    | 96.00   | 8
        TL-H    | Tail lift, per hour               | 42.00   | 4
        ST-M3   | Storage, per cubic metre and week | 3.10    | 40
        CU-T1   | Customs transit document T1       | 55.00   | 2
    """),
    tags=(
        "fragile",
        "two-person-lift",
        "tail-lift",
        "export",
        "cash-on-delivery",
        "ground-floor",
        "returns",
    ),
    lessons=lines("""
        Ring before unloading: the gate is locked between 12 and 13.
        Wants the delivery note by email, never by post.
        The ramp takes no trucks above 12 tonnes.
        Ask for the order number first; two branches share one name.
        Chapter 94 needs the tariff extract of this year.
        Pays on the 15th. A reminder before that annoys them.
    """),
    streets=("Old Quay", "Lockgate Road", "Hafenstraße", "Millrace", "Ropewalk", "Kontorweg"),
    places=(
        ("28195", "Tannhollow"),
        ("28217", "Tannhollow"),
        ("26121", "Oldenmoor"),
        ("21073", "Harbeck"),
    ),
)
