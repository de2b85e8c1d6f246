"""Images: download, verify, write to a disk; the parts of the agent's standby extension that move bytes."""
from __future__ import annotations

import base64
import hashlib
import http.client
import os
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse

from . import image_format, partitions
from .web import Unreachable

CHUNK_BYTES = 1024 * 1024
ALGORITHM_BY_LENGTH = {32: "md5", 64: "sha256", 128: "sha512"}
QEMU_TIMEOUT_SECONDS = 1800
POLL_INTERVAL_SECONDS = 0.1


class ImageError(Exception):
    """An image can't be had, isn't what it claims to be, or doesn't fit."""


def _is_url(text):
    return text.startswith(("http://", "https://"))


def parse_checksums(text, file_name):
    """Return the digest for a file out of the text of a checksum file.

    :param text: one digest alone, or lines as ``sha256sum`` or BSD tools write them
    :param file_name: the image's name without its folder
    :raises ImageError: if there is none
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    digests = re.compile(r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{128}|[0-9a-fA-F]{64}|[0-9a-fA-F]{32})(?![0-9a-fA-F])")
    if len(lines) == 1 and digests.fullmatch(lines[0]):
        return lines[0]
    for line in lines:
        if re.search(r"(\s\*?%s$)|(\(%s\))" % ((re.escape(file_name),) * 2), line):
            found = digests.search(line)
            if found:
                return found.group(0)
    raise ImageError(f"Checksum file does not contain name {file_name}")


def expected_digest(web, info):
    """Return the algorithm and the digest that an image must have.

    :param web: a Web
    :param info: Ironic's image_info: ``os_hash_algo`` and ``os_hash_value``, or ``checksum``; values may be URLs
    :raises ImageError: without a usable one
    """
    algorithm, value = info.get("os_hash_algo"), info.get("os_hash_value")
    if not (algorithm and value):
        algorithm, value = None, info.get("checksum")
    if not value:
        raise ImageError(f"Unable to verify image {info['id']} with available checksums")
    if _is_url(value):
        try:
            answer = web.request(value)
        except Unreachable as error:
            raise ImageError(f"checksum file: {error}") from error
        if answer.status != 200:
            raise ImageError(f"checksum file {value}: status code {answer.status}, expected 200")
        value = parse_checksums(answer.body.decode("utf-8", "replace"),
                                os.path.basename(urllib.parse.urlparse(info["urls"][0]).path))
    algorithm = algorithm or ALGORITHM_BY_LENGTH.get(len(value))
    if algorithm not in hashlib.algorithms_available:
        raise ImageError(f"Unable to identify the checksum algorithm of {value}")
    return algorithm, value.lower()


class Download:
    """The chunks of an image, hashed as they pass.

    :param web: a Web
    :param info: Ironic's image_info
    :param received: callable that gets the number of each chunk's bytes, and 0 while there is other work; it may wait,
        and raises when the machine was powered off meanwhile
    """

    def __init__(self, web, info, received):
        self._web = web
        self._info = info
        self._received = received
        self.algorithm, self.expected = expected_digest(web, info)
        self.bytes = 0

    def __iter__(self):
        digest = hashlib.new(self.algorithm)
        headers = {}
        if self._info.get("image_request_authorization"):
            headers["Authorization"] = base64.standard_b64decode(self._info["image_request_authorization"]).decode()
        url = self._info["urls"][0]
        try:
            with self._web.open(url, headers=headers) as answer:
                announced = answer.headers.get("Content-Length")
                while True:
                    chunk = self._read(answer, url)
                    self._received(len(chunk))
                    if not chunk:
                        break
                    digest.update(chunk)
                    self.bytes += len(chunk)
                    yield chunk
        except urllib.error.HTTPError as error:
            raise ImageError(f"Received status code {error.code} from {url}, expected 200") from error
        except Unreachable as error:
            raise ImageError(str(error)) from error
        if announced is not None and int(announced) != self.bytes:
            raise ImageError(f"{url}: {self.bytes} bytes received, {announced} announced")
        if digest.hexdigest() != self.expected:
            raise ImageError(f"Image failed to verify against checksum. location: {url}; image ID: {self._info['id']}; "
                             f"image checksum: {self.expected}; verification checksum: {digest.hexdigest()}")

    def _read(self, answer, url):
        try:
            return answer.read(CHUNK_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise ImageError(f"{url}: the connection broke after {self.bytes} bytes: {error}") from error


def _qemu_img(arguments, received):
    with subprocess.Popen(["qemu-img"] + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        try:
            output, errors = _ended(process, received)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise ImageError(f"qemu-img {arguments[0]}: {errors.strip()}")
    return output


def _ended(process, received):
    deadline = time.monotonic() + QEMU_TIMEOUT_SECONDS
    while True:
        try:
            return process.communicate(timeout=POLL_INTERVAL_SECONDS)
        except subprocess.TimeoutExpired:
            if time.monotonic() > deadline:
                raise
            received(0)


def _convert(path, claimed, disk, received):
    try:
        with open(path, "rb") as file:
            image_format.check_header(file.read(image_format.HEADER_BYTES), claimed)
        size = image_format.virtual_size(_qemu_img(
            ["info", "-f", image_format.QCOW2, "--output", "json", path], received))
    except image_format.ImageFormatError as error:
        raise ImageError(str(error)) from error
    if size > disk.size:
        raise ImageError(f"Writing image to device {disk.name} failed: image virtual size {size} exceeds the disk's "
                         f"{disk.size} bytes")
    _qemu_img(["convert", "-n", "--target-is-zero", "-S", "64k", "-f", image_format.QCOW2, "-O", "raw", path,
               disk.path], received)


def write(web, info, disk, received):
    """Put a whole-disk image on a disk: raw ones streamed, qcow2 through a temporary file and qemu-img.

    :param web: a Web
    :param info: Ironic's image_info
    :param disk: the Disk
    :param received: see Download
    :returns: number of bytes downloaded
    :raises ImageError: see Download; or if it is too large, or no self-contained qcow2 image
    :raises OSError: if the disk can't be written
    """
    download = Download(web, info, received)
    disk.empty()
    if info.get("disk_format") == "raw":
        disk.write(download)
        return download.bytes
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(disk.path), prefix="download-") as file:
        for chunk in download:
            file.write(chunk)
        file.flush()
        # Raises what a knob asks for, before qemu-img does the writing.
        disk.write([])
        disk.empty()
        _convert(file.name, info.get("disk_format"), disk, received)
    return download.bytes


def fill_disk(disk):
    """Move a GPT's backup to the disk's end, where it belongs on a disk larger than the image.

    :raises ImageError: if the partition table is broken
    """
    try:
        partitions.fill_disk(disk.path)
    except partitions.PartitionError as error:
        raise ImageError("Unable to find a valid partition table on the disk after writing the image: "
                         f"{error}") from error
