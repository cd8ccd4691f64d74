"""The words of Brightquill."""

from __future__ import annotations

from project.demo.content.kinds import Content, lines, products

__all__ = ["CONTENT"]

CONTENT = Content(
    agents=("recall", "frontdesk"),
    people=("dr.aziz", "noor"),
    reminders=130,
    orders=40,
    notes=35,
    customers=lines("""
        Dentalia Supplies
        Pearl & Crown Laboratory
        Sterimed
        Orthotec
        Brackenridge Imaging
        Whitmore Linen
    """),
    things=lines("""
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
    contacts=lines("""
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
    tasks=lines("""
        {contact}: {thing} is due, offer two dates
        Call {contact} back about the {thing}
        Send {contact} the {thing}
        Ask {contact} whether the {thing} still hurts
        {contact} missed the appointment ({thing}); try once more
        Move the {thing} of {contact} to a morning
    """),
    products=products("""
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
    lessons=lines("""
        Afraid of needles: book 15 minutes more.
        Prefers messages in Spanish.
        The lab closes at 14:00 on Fridays.
        Never offer a date before 9: school run.
        Insurance wants the estimate before the X-ray.
    """),
    streets=("Lindenallee", "Quill Lane", "Market Street", "Am Brunnen"),
    places=(("50667", "Brightquill"), ("50823", "Ehrenbach"), ("51065", "Mühlen")),
)
