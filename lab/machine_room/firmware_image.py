"""Firmware images of the simulated servers: a JSON text like ``{"component": "bios", "version": "1.1.0"}``."""
from __future__ import annotations

import json

from .web import Unreachable

# Component as Ironic knows it → its name in Redfish's inventory.
COMPONENTS = {"bios": "BIOS", "bmc": "BMC"}


class FirmwareImageError(Exception):
    """The image can't be had or is none; the text is for the task's message."""


def read_image(web, url):
    """Return component and version that a firmware image says it is.

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
        image = json.loads(answer.body)
        component, version = image["component"], image["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise FirmwareImageError(f"{url} is no firmware image of this server") from error
    if component not in COMPONENTS or not isinstance(version, str) or not version:
        raise FirmwareImageError(f"{url} is firmware for {component}, not for one of {', '.join(sorted(COMPONENTS))}")
    return component, version
