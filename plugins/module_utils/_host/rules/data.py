# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data, network data and metadata of a host; pure."""
from __future__ import annotations

from ..._common.documents.document_text import HAS_YAML, DocumentError, from_json, from_yaml
from ..._common.options import network_data
from ..._common.options.field_checks import DNS_NAME, show
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import HIDDEN
from ..._kube.objects import secret_data
from ..description import fields as host_fields

PREPROVISIONING = "preprovisioning_network_data"
NETWORK_KEY = host_fields.DATA_KEYS[PREPROVISIONING]
# A server's network data has a few KiB. What others have stored must not take a run's time.
LONGEST_STORED_BYTES = 64 * 1024
MOST_PATHS = 8


def check(label, host):
    """Return the Problems of an entry's data, given inline or by the name of a Secret."""
    problems = []
    for option in host_fields.DATA_KEYS:
        data = host.get(option) or {}
        name, content = data.get("name"), data.get("content")
        if name and not DNS_NAME.match(name):
            problems.append(Problem("host-data", label, option + ".name", show(name), "a Secret's name",
                                    f"name the Secret without its namespace, or give {option}.content in its place"))
        if content is not None and not content.strip():
            problems.append(Problem("host-data", label, option + ".content", "an empty text", "content",
                                    f"give content, or an empty {option} to remove it"))
        elif content is not None and option != "user_data":
            problems += _check_text(label, option, content)
    return problems


def check_secret(label, option, name, secret):
    """Return the Problem of network data in a Secret that an entry names, as a list, see :func:`stored_problems`.

    :param label: of the entry
    :param option: ``network_data`` or ``preprovisioning_network_data``; of others nothing is said
    :param name: of the Secret
    :param secret: the Secret as anybody has written it
    """
    if not _is_network(option):
        return []
    return stored_problems("host-data", label, f"{option}.name", name, secret, option == PREPROVISIONING,
                           f"correct the Secret; given as {option}.content, each problem is explained")


def stored_problems(code, label, field, name, secret, for_ironic, hint="correct the Secret"):
    """Return the Problem of network data in a Secret, as a list; no value of it is quoted.

    BMO reads the text as YAML (``register.go``, ``getConfigDrive`` in ``ironic.go``).

    :param code: of the Problem
    :param label: of what names the Secret
    :param field: path of the option that names it
    :param name: of the Secret
    :param secret: the Secret as anybody has written it
    :param for_ironic: whether Ironic gets it for the agent, and so requires more
    :param hint: what to do
    """
    key = NETWORK_KEY if NETWORK_KEY in secret["data"] else "value"
    content = secret_data.value(secret, key) or b""
    if not HAS_YAML or len(content) > LONGEST_STORED_BYTES:
        return []
    try:
        data = _read(content)
    except DocumentError as exc:
        actual, expected = f"Secret {name}, whose {key} cannot be read ({exc})", "a JSON or YAML mapping"
    else:
        paths = list(dict.fromkeys(problem.field for problem in _check_network_data(code, label, for_ironic, key,
                                                                                    data)))
        if not paths:
            return []
        actual = f"Secret {name} with problems at {', '.join(paths[:MOST_PATHS])}" + (
            " and more" if len(paths) > MOST_PATHS else "")
        expected = "links that can stand on one another, one default route for each family" + (
            ", and what Ironic requires" if for_ironic else "")
    return [Problem(code, label, field, actual, expected, hint)]


def _read(content):
    try:
        data = from_json(content)
    except DocumentError:
        data = from_yaml(content)
    if data is not None and not isinstance(data, dict):
        raise DocumentError("no mapping")
    return data


def _check_text(label, option, content):
    start, field = content.lstrip(), option + ".content"
    if start[:1] == "{":
        try:
            data = from_json(content)
        except ValueError:
            return [_no_mapping(label, field, HIDDEN)]
        found = []
        if option == PREPROVISIONING and data:
            found += network_data.lacking_for_ironic("host-data", label, option, data)
        return found + (network_data.problems("host-data", label, option, data) if _is_network(option) else [])
    if start[:1] in ("[", "-", "#!") and not start.startswith("---"):
        return [Problem("host-data", label, field, HIDDEN, "a mapping, not a list",
                        "give a dictionary with links, networks and services" if "network" in option
                        else "give a dictionary")]
    if not _is_network(option) or not HAS_YAML:
        return []
    try:
        data = from_yaml(content)
    except DocumentError as exc:
        return [_no_mapping(label, field, f"a text that cannot be read ({exc})")]
    if data is not None and not isinstance(data, dict):
        return [_no_mapping(label, field, HIDDEN)]
    return _check_network_data("host-data", label, option == PREPROVISIONING, option, data)


def _is_network(option):
    return host_fields.DATA_KEYS[option] == NETWORK_KEY


def _no_mapping(label, field, actual):
    return Problem("host-data", label, field, actual, "a JSON or YAML mapping",
                   "pass a dictionary through the filter to_json")


def _check_network_data(code, label, for_ironic, path, data):
    """Return the Problems of network data that was read as YAML.

    :param path: of the document
    :param data: a mapping with values of any shape; None for a text with comments alone, which is no data to BMO
    """
    found = []
    # Who builds the agent's images by a controller may have a format of their own, which Ironic does not get.
    if for_ironic and any(part in (data or {}) for part in network_data.PARTS):
        found = network_data.lacking_for_ironic(code, label, path, data)
    return found + network_data.problems(code, label, path, data)
