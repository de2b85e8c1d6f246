# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images at the lab's image server, as nodes and agents on the bridge read them."""
from __future__ import annotations

from pathlib import Path


def published(lab, name):
    """Return an image of the lab's image server, as the variable of a host or cluster.

    :param name: of its file
    """
    address, port = lab.figures["bridge"]["address"].partition("/")[0], lab.figures["ports"]["image_server"]
    url = f"https://{address}:{port}/images/{name}"
    return {"url": url, "checksum": url + ".sha256", "checksum_type": "sha256", "format": "qcow2"}


def linked(lab, image_dir, name):
    """Serve a node image of the cache, and return it as :func:`published` does.

    :param image_dir: of module ``lab_node_image``
    :param name: of its file there, with the ending ``.qcow2``
    """
    image, checksum = (lab.dir / "www" / "images" / f"{name}{suffix}" for suffix in ("", ".sha256"))
    for path in (image, checksum):
        path.unlink(missing_ok=True)
    image.symlink_to(Path(image_dir) / "node.qcow2")
    # The file names what it is of.
    checksum.write_text((Path(image_dir) / "node.qcow2.sha256").read_text().replace("node.qcow2", name))
    return published(lab, name)
