# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What else runs in Ironic's pod, as images of the lab with the contracts of Metal3's: keepalived and MariaDB."""
from __future__ import annotations

import dataclasses

from .._plane.cluster import ironic, ironic_database


@dataclasses.dataclass(frozen=True)
class Recipe:
    """An image with the contract of one of Metal3's.

    :param title: what is in it
    :param name: upstream's, without a tag
    :param entry_point: path in the container of the program that starts it
    :param packages: names of Debian packages
    :param user: number of user and group
    :param hooks: shell commands that follow their installation, each gets the root folder as its first argument
    """

    title: str
    name: str
    entry_point: str
    packages: tuple[str, ...]
    user: int
    hooks: tuple[str, ...]


# Users and groups are those of upstream's manifests.
KEEPALIVED = Recipe(
    "keepalived", ironic.KEEPALIVED, "/usr/local/bin/manage-keepalived.sh",
    # libcap2-bin for setcap, procps for looking into the pod.
    ("keepalived", "libcap2-bin", "procps"), 65532, (
        'chroot "$1" install -d -o 65532 -g 65532 /conf /data',
        # The pod's capabilities reach a plain user's program by its file only.
        'chroot "$1" setcap cap_net_raw,cap_net_broadcast,cap_net_admin=+eip /usr/sbin/keepalived'))

MARIADB = Recipe(
    "MariaDB", ironic_database.IMAGE, "/usr/bin/runmariadb",
    # mariadb-client for mysqladmin, which is upstream's probe.
    ("mariadb-server-core", "mariadb-client", "procps"), 27, (
        # Debian has a group of this number.
        'chroot "$1" useradd -u 27 -g 27 -d /var/lib/mysql -M -s /usr/sbin/nologin mysql',
        'chroot "$1" install -d -o 27 -g 27 /var/lib/mysql /etc/my.cnf.d /certs',
        # Instead of Debian's, which has its socket in /run, of which a layer has nothing.
        'rm -r "$1"/etc/mysql',
        'printf "[client-server]\\nsocket = /var/lib/mysql/mysql.sock\\n!includedir /etc/my.cnf.d\\n" '
        '>"$1"/etc/my.cnf'))
