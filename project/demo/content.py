"""What the invented companies talk about: names, things and sentences. Nothing but words."""

from __future__ import annotations

from dataclasses import dataclass

from project.companies import BRIGHTQUILL, KESTERLY, TANNHOLLOW

__all__ = ["CONTENT", "Content", "Product"]


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


def _products(text: str) -> tuple[Product, ...]:
    rows = (line.split("|") for line in text.strip().splitlines())
    return tuple(
        Product(sku=sku.strip(), description=name.strip(), price=price.strip(), most=int(most))
        for sku, name, price, most in rows
    )


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())


CONTENT = {
    TANNHOLLOW: Content(
        agents=("bia", "dispatch", "customs"),
        people=("maren", "tobi"),
        reminders=190,
        orders=90,
        notes=45,
        customers=_lines("""
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
        things=_lines("""
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
        contacts=_lines("""
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
        tasks=_lines("""
            Call {customer} about the {thing}
            Send {customer} the {thing}
            Ask dispatch about the {thing} of {customer}
            {customer}: confirm the {thing} in writing
            Check the {thing} for {customer} before the truck leaves
            Remind {customer} of the {thing}
            Second try: {thing}, {customer}
        """),
        products=_products("""
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
        lessons=_lines("""
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
    ),
    BRIGHTQUILL: Content(
        agents=("recall", "frontdesk"),
        people=("dr.aziz", "noor"),
        reminders=130,
        orders=40,
        notes=35,
        customers=_lines("""
            Dentalia Supplies
            Pearl & Crown Laboratory
            Sterimed
            Orthotec
            Brackenridge Imaging
            Whitmore Linen
        """),
        things=_lines("""
            check-up
            professional cleaning
            night guard
            crown on 36
            X-ray from the other practice
            treatment plan
            cost estimate
            retainer
            implant follow-up
            insurance form
            allergy sheet
        """),
        contacts=_lines("""
            Adaeze Okafor
            Bernd Lohmann
            Chiara Moretti
            Dmitri Volkov
            Elsa Håkansson
            Farid Rahimi
            Grete Ahlers
            Hannah Schuster
            Ibrahim Diallo
            Jolanta Nowak
            Kenji Mori
            Lucía Herrera
            Mwangi Kamau
            Nele Petersen
            Olek Baran
            Priya Raman
            Quentin Dubois
            Rosa Lindner
            Siobhán Kelly
            Tomasz Zając
            Uta Krämer
            Vera Pohl
            Wilma Janssen
            Xenia Pappas
            Yasmin Haddad
            Zoltán Kiss
        """),
        tasks=_lines("""
            {contact}: {thing} is due, offer two dates
            Call {contact} back about the {thing}
            Send {contact} the {thing}
            Ask {contact} whether the {thing} still hurts
            {contact} missed the appointment ({thing}); try once more
            Move the {thing} of {contact} to a morning
        """),
        products=_products("""
            NG-M   | Nitrile gloves M, box of 100       | 8.40   | 40
            AN-40  | Articaine 4 %, 100 cartridges      | 62.00  | 4
            IM-A   | Alginate, 500 g                    | 9.75   | 10
            CR-ZR  | Zirconia crown, per unit           | 118.00 | 3
            NG-UP  | Night guard, upper jaw             | 74.50  | 2
            FL-V   | Fluoride varnish, 50 doses         | 48.90  | 5
            BR-SET | Bracket set, metal                 | 39.00  | 6
            SP-200 | Sterilisation pouches, 200 pieces  | 12.20  | 12
        """),
        tags=("urgent", "lab", "cold-chain", "monthly", "orthodontics", "returns"),
        lessons=_lines("""
            Afraid of needles: book 15 minutes more.
            Prefers messages in Spanish.
            The lab closes at 14:00 on Fridays.
            Never offer a date before 9: school run.
            Insurance wants the estimate before the X-ray.
        """),
        streets=("Lindenallee", "Quill Lane", "Market Street", "Am Brunnen"),
        places=(("50667", "Brightquill"), ("50823", "Ehrenbach"), ("51065", "Mühlen")),
    ),
    KESTERLY: Content(
        agents=("concierge",),
        people=("ilse",),
        reminders=70,
        orders=35,
        notes=66,
        customers=_lines("""
            Family Andersson
            Mr and Mrs Whitfield
            Kowalczyk wedding party
            Delacroix Architects
            Choir of St. Olave
            Hiking club Edelweiß
            Dr. Tanaka
            Bluebell School, year 10
        """),
        things=_lines("""
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
        contacts=_lines("""
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
        tasks=_lines("""
            {customer}: {thing} still missing
            Book the {thing} for {customer}
            Send {customer} the {thing}
            Ask {customer} about the {thing}
            Check the price of the {thing} again for {customer}
        """),
        products=_products("""
            FL-EC  | Flight, economy, return         | 389.00 | 6
            HT-DB  | Hotel, double room, per night   | 128.00 | 14
            TR-AP  | Airport transfer                | 34.00  | 4
            IN-TR  | Travel insurance, per person     | 21.50  | 6
            EX-DAY | Day trip with guide             | 76.00  | 8
            RW-2   | Railway ticket, second class     | 58.40  | 8
        """),
        tags=("honeymoon", "group", "vegetarian", "step-free", "with-children", "last-minute"),
        lessons=_lines("""
            Window seats, always, and near the front.
            Allergic to feathers: ask the hotel for other pillows.
            Answers on Sundays only.
            The ferry does not run in a west wind; keep a night spare.
            Wants every price with and without breakfast.
        """),
        streets=("Station Road", "Harbour Parade", "Via Roma", "Rue du Lac"),
        places=(("1204", "Kesterly"), ("1820", "Montvert"), ("6900", "Lagosecco")),
    ),
}
