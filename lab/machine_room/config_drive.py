"""The config drive: Ironic's ISO, written to a partition at the disk's end."""
from __future__ import annotations

import base64
import binascii
import gzip

from . import partitions
from .web import Unreachable


class ConfigDriveError(Exception):
    """A config drive can't be had, read or written."""


def contents(web, value):
    """Return the config drive's ISO as bytes.

    :param web: a Web
    :param value: the base64 of a gzipped ISO, or a URL where it is
    :raises ConfigDriveError: if it can't be read
    """
    data = value
    if value.startswith(("http://", "https://")):
        try:
            answer = web.request(value)
        except Unreachable as error:
            raise ConfigDriveError(f"Can't download the configdrive: {error}") from error
        if answer.status >= 400:
            raise ConfigDriveError(f"Can't download the configdrive content from {value}: status code {answer.status}")
        data = answer.body
    try:
        return gzip.decompress(base64.b64decode(data, validate=False))
    except (binascii.Error, OSError, EOFError) as error:
        raise ConfigDriveError(f"Config drive is not base64 encoded or the content is malformed: {error}") from error


def write(disk, iso):
    """Write the ISO to the disk's config drive partition, made at its end if the image has none.

    :param disk: the Disk, with an image on it
    :param iso: bytes
    :raises ConfigDriveError: if it doesn't fit
    """
    try:
        partition = partitions.config_drive(disk.path) or partitions.add_config_drive(disk.path)
    except partitions.PartitionError as error:
        raise ConfigDriveError(f"Failed to create config drive on disk {disk.name}: {error}") from error
    room = partition["size"] * partitions.SECTOR_BYTES
    if len(iso) > room:
        raise ConfigDriveError(f"Config drive size exceeds maximum limit: {len(iso)} bytes, room for {room}")
    disk.write([iso], offset=partition["start"] * partitions.SECTOR_BYTES)
