"""The paper's document and query type (section 6, figure 4): a menu, and profiles that ask for a price."""

from __future__ import annotations

from random import Random

from benchmarks.xml.workload import Workload
from triplewire import parse
from triplewire.model import Document

DOCUMENTS = 200
_MENU = """<?xml version="1.0" encoding="ISO-8859-1"?>
<menu>
  <softdrinks>
    <brand>{brand}</brand>
    <fruit>{fruit}</fruit>
    <source>{source}</source>
    <company>{company}</company>
    <price>{price:.2f}</price>
    <year>{year}</year>
  </softdrinks>
</menu>
"""
_BRANDS = ("Minute Maid", "Tropicana", "Granini", "Innocent")
_FRUITS = ("Apple", "Orange", "Cherry", "Grape")
_SOURCES = ("Brazil", "Spain", "Italy", "Florida")
_COMPANIES = ("Coca Cola", "PepsiCo", "Eckes", "Other")


def menu(rng: Random, number: int) -> Document:
    """A document of figure 4's form."""
    text = _MENU.format(
        brand=rng.choice(_BRANDS),
        fruit=rng.choice(_FRUITS),
        source=rng.choice(_SOURCES),
        company=rng.choice(_COMPANIES),
        price=rng.uniform(0.5, 5.0),
        year=rng.randint(1990, 2026),
    )
    return parse(text.encode("latin-1"), uri=f"https://menus.example/{number}.xml")


def profiles(count: int, seed: int) -> Workload:
    """Profiles of figure 4's query type; prices to a hundredth of a cent, so that hardly two are equal."""
    rng = Random(seed)
    expressions = [f"/menu/softdrinks[price>{rng.uniform(0.0, 5.5):.4f}]" for _ in range(count)]
    return Workload("MENU", expressions, [menu(rng, number) for number in range(DOCUMENTS)])
