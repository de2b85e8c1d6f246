"""A server's network cards, one for each of its NICs, as far as their firmware is concerned."""
from __future__ import annotations

FACTORY_VERSION = "9.00"


def cards(spec):
    """Return a server's cards: identity → the NIC's entry in ``servers.json``."""
    return {f"NIC.{number}": nic for number, nic in enumerate(spec["nics"], start=1)}


def factory_firmware(spec):
    """Return the versions of new cards by their identity."""
    return dict.fromkeys(cards(spec), FACTORY_VERSION)


def of_product(spec, product):
    """Return the identities of a server's cards that are of a product, those that an image for it is flashed to."""
    return [identity for identity, nic in cards(spec).items() if nic["product"] == product]


def serial(nic):
    """Return a card's serial number, which is its MAC address; None for one without, as cards on main boards may be."""
    return nic["mac"].replace(":", "").upper() if nic.get("has_serial_number", True) else None
