"""Firmware images of the simulated servers: a JSON text like ``{"component": "bios", "version": "1.1.0"}``.

One for network cards says which product it is for, as ``{"component": "nic", "product": "0x1572", "version": "9.20"}``.
"""
from __future__ import annotations

import json
from typing import NamedTuple

from . import network_cards
from .web import Unreachable

# Component as Ironic knows it → its name in Redfish's inventory.
COMPONENTS = {"bios": "BIOS", "bmc": "BMC"}
CARD = "nic"


class FirmwareImageError(Exception):
    """The image can't be had, is none, or is for something else; the text is for the task's message."""


class FirmwareImage(NamedTuple):
    """What an image says it is.

    :param product: the cards that it is for, empty unless the component is CARD
    """

    component: str
    version: str
    product: str = ""


def read_image(web, url):
    """Return the FirmwareImage that an address leads to.

    :param web: a Web
    :raises FirmwareImageError: if it can't be had, or is no image of this kind of server
    """
    try:
        answer = web.request(url)
    except (Unreachable, ValueError) as error:
        raise FirmwareImageError(f"image can't be downloaded: {error}") from error
    if answer.status != 200:
        raise FirmwareImageError(f"image can't be downloaded: {url} answered {answer.status}")
    try:
        content = json.loads(answer.body)
        component, version = content["component"], content["version"]
        image = FirmwareImage(component, version, content["product"] if component == CARD else "")
    except (ValueError, KeyError, TypeError) as error:
        raise FirmwareImageError(f"{url} is no firmware image of this server") from error
    known = sorted((*COMPONENTS, CARD))
    if component not in known or not isinstance(version, str) or not version:
        raise FirmwareImageError(f"{url} is firmware for {component}, not for one of {', '.join(known)}")
    return image


def parts_of(spec, image, url):
    """Return what of a server an image is flashed to: keys of its ``firmware``.

    The image decides, as nothing else does: Ironic gives the BMC an address, and no card.

    :param spec: the server's entry in ``servers.json``
    :param url: where the image is from
    :raises FirmwareImageError: if the server has no card that it is for
    """
    if image.component != CARD:
        return [image.component]
    fitting = network_cards.of_product(spec, image.product)
    if not fitting:
        products = sorted(set(nic["product"] for nic in network_cards.cards(spec).values()))
        raise FirmwareImageError(
            f"{url} is firmware for network cards {image.product}, this server has {', '.join(products)}")
    return fitting
