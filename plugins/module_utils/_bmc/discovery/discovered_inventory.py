# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory file that discovery writes: whole and its own, so that no file of a person's is ever touched.

Ansible lets host_vars override what an inventory file says of a host, and group_vars or another file's ``vars`` of a
group override this file's group. What a person has set for a server anywhere is left out of the file altogether,
because values that an inventory file has for a host would otherwise override group_vars.

All that comes from BMCs is below ``!unsafe``, so that Ansible never takes it for a template.
"""
from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ..._common.addresses import mac_address
from ..._common.documents.document_text import DocumentError, from_yaml
from ..._common.options import inventory_name
from ..._common.options.field_checks import show, shown
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import with_texts
from ..._common.texts.plain_text import few, plain
from ..addresses import address as bmc_address
from ..preflight import identity

try:
    # Comes with ansible-core.
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

HEADER = ("# Written by metal3.baremetal.discover; the next run writes it again. Values of your own belong into\n"
          "# host_vars, group_vars or another inventory file: what is set there is left out here. A BMC's answers are\n"
          "# below !unsafe: it is no template, whatever it looks like.\n")
MARK = "# Written by metal3.baremetal.discover;"
GROUP = "baremetal"
# Has a priority below the usual one, so that any group of a person's, but for "all", overrides the credentials here.
CREDENTIALS_GROUP = "discovered"
FACTS = "bmc_discovered"
NAME_FIELDS = ("hostname", "serial_number", "sku", "uuid", "manufacturer", "model", "host")
# Nothing that changes while the server stays the same, such as power and links.
_FACT_FIELDS = ("manufacturer", "model", "serial_number", "sku", "uuid", "bmc_model", "system_path")
_VALUES = (("bmc_address", "bmc.address"), ("boot_mac", "boot_mac_address"))
_TEXTS = tuple(field for field in NAME_FIELDS if field != "host") + ("address", "bmc_model", "system_path")
_UNSAFE = "!unsafe"
# Hardware by UUID and by name.
_ByUuid = dict[str, dict[str, identity.Hardware]]


def read(text: str) -> dict[str, Any]:
    """Return the content of a file that discovery wrote, empty for an empty text.

    :raises ValueError: when it was not written by discovery, or is no inventory any more
    """
    if not text.strip():
        return {}
    if not text.startswith(MARK):
        raise ValueError("it does not begin with the line that discovery writes")
    try:
        content = from_yaml(text, _loader())
    except DocumentError as exc:
        raise ValueError(f"it is no YAML: {exc}") from exc
    if not _is_inventory(content):
        raise ValueError("after that line it has not the form that discovery writes")
    return content


def _is_inventory(content: Any) -> bool:
    if not isinstance(content, dict):
        return False
    groups = [content.get(group, {}) for group in (GROUP, CREDENTIALS_GROUP)]
    if not all(isinstance(group, dict) and isinstance(group.get("hosts", {}), dict) for group in groups):
        return False
    hosts = groups[0].get("hosts", {})
    return all(isinstance(name, str) and isinstance(variables, dict) and isinstance(variables.get(FACTS, {}), dict)
               for name, variables in hosts.items())


def write(content: dict[str, Any]) -> str:
    """Return the text of the file."""
    hosts = content.get(GROUP, {}).get("hosts", {})
    marked = dict((name, _Foreign(variables)) for name, variables in hosts.items())
    return HEADER + "---\n" + yaml.dump(dict(content, **{GROUP: {"hosts": marked}}), Dumper=_dumper(),
                                        default_flow_style=False, sort_keys=True, width=1000)


class _Foreign(dict):
    """Variables of a host that are no templates.

    The mark is on the whole mapping: on a single text it would make Ansible read ``"10:20"`` or ``"yes"`` as if it had
    no quotes.
    """


def _dumper() -> Any:
    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    Dumper.add_representer(_Foreign, lambda dumper, value: dumper.represent_mapping(_UNSAFE, dict(value)))
    return Dumper


def _loader() -> Any:
    class Loader(yaml.SafeLoader):
        pass

    def construct(loader: Any, node: Any) -> Any:
        if not isinstance(node, yaml.MappingNode):
            raise ValueError(f"{_UNSAFE} before something else than the variables of a host")
        return loader.construct_mapping(node, deep=True)

    Loader.add_constructor(_UNSAFE, construct)
    return Loader


def merge(servers: list[dict[str, Any]], content: dict[str, Any], known: list[dict[str, Any]],
          options: dict[str, Any],
          taken: Iterable[str] = ()) -> tuple[dict[str, Any], list[dict[str, Any]], list[Problem]]:
    """Return the new content, what became of each server, and the problems.

    :param servers: what ``bmc_discovery`` found
    :param content: the file's present content
    :param known: entries of the servers in the inventory, as ``bmc_entries`` makes them
    :param options: ``{"name_format", "boot_nic", "username_expression", "password_expression",
        "disable_certificate_verification"}``
    :param taken: names that servers can't get: those of the inventory's other hosts, and of its groups
    :returns: ``(content, [{"name", "address", "action", "same_uuid"}], problems)``; action is ``added``, ``updated`` or
        ``unchanged``, ``same_uuid`` has the names of others with the server's UUID. Servers of the present content that
        were not found this time stay as they are
    """
    problems = check_format(options["name_format"])
    problems += [Problem("discovered-inventory", "", option, "braces", "an expression without them",
                         "remove them, as in vault_bmc_password")
                 for option in ("username_expression", "password_expression")
                 if "{" in (options[option] or "") or "}" in (options[option] or "")]
    # Plain, whoever handed them over.
    servers = [with_texts(server, plain, with_keys=True) for server in servers]
    for number, server in enumerate(servers):
        problems += _mistakes(number, server)
    if problems:
        return content, [], problems
    before = ((content.get(GROUP) or {}).get("hosts")) or {}
    credentials = set(((content.get(CREDENTIALS_GROUP) or {}).get("hosts")) or {})
    entries = dict((entry["name"], entry) for entry in known)
    named, problems = _named(servers, before, entries, options["name_format"], {*taken, *inventory_name.RESERVED})
    problems += [mistake for name, server in named for mistake in _boot_nic_mistakes(
        server, (entries.get(name) or {}).get("boot_mac_address"), (before.get(name) or {}).get("boot_mac"),
        options["boot_nic"])]
    hosts, report, others = dict(before), [], _others(named, before)
    for name, server in named:
        ours = before.get(name)
        hosts[name] = _variables(server, ours or {}, entries.get(name) or {}, options)
        if name in credentials or not (entries.get(name, {}).get("bmc") or {}).get("username"):
            credentials.add(name)
        report.append({"name": name, "address": server["address"], "same_uuid": others[name],
                       "action": "added" if ours is None else "unchanged" if ours == hosts[name] else "updated"})
    report.sort(key=lambda server: server["name"])
    return _content(hosts, credentials & set(hosts), options), report, problems


def line(server: dict[str, Any]) -> str:
    """Return what became of a server, of what :func:`merge` returns, as a line."""
    same = f"; {few(server['same_uuid'], 5)} with the same UUID, other by network cards or serial number" \
        if server["same_uuid"] else ""
    return f"{server['name']}: {server['action']}, {server['address']}{same}"


def _mistakes(number: int, server: Any) -> list[Problem]:
    """Return what keeps a server from being written: nothing does when it is as ``bmc_discovery`` returns it."""
    subject, wrong = f"servers[{number}]", []
    if not isinstance(server, dict):
        return [Problem("discovered-inventory", subject, "", show(server), "a server as bmc_discovery returns it")]
    wrong += [(field, "a text") for field in _TEXTS if not isinstance(server.get(field), str)]
    if not wrong and bmc_address.identity_of(server["address"]) is None:
        wrong.append(("address", "a BMC address"))
    if not wrong and server["system_path"] and bmc_address.path_mistake(server["system_path"]):
        wrong.append(("system_path", "a path in URL characters"))
    if not isinstance(server.get("bmc"), dict) or not isinstance(server["bmc"].get("host"), str):
        wrong.append(("bmc", "host and port"))
    if not isinstance(server.get("nics"), list) or not all(
            isinstance(nic, dict) and isinstance(nic.get("name"), str) and _is_mac(nic.get("mac"))
            for nic in server["nics"]):
        wrong.append(("nics", "a list of name and mac"))
    if not isinstance(server.get("boot_mac_candidates"), list) or not all(map(_is_mac, server["boot_mac_candidates"])):
        wrong.append(("boot_mac_candidates", "a list of MAC addresses"))
    return [
        Problem("discovered-inventory", subject, field, shown(server.get(field)),
                f"{expected}, as bmc_discovery returns it")
        for field, expected in wrong
    ]


def _is_mac(value: Any) -> bool:
    return isinstance(value, str) and mac_address.mac_error(value) is None


def _boot_nic_mistakes(server: dict[str, Any], given: Any, ours: Any, boot_nic: str) -> list[Problem]:
    """Return the problem of a boot NIC that a server does not have.

    What reports no NIC at all (IPMI), or has a boot MAC address of a person's, is not concerned.
    """
    names = [nic["name"] for nic in server["nics"]]
    if not boot_nic or not names or boot_nic in names or (given is not None and given != ours):
        return []
    return [Problem(
        "discovered-inventory", f"server at {server['address']}", "boot_nic", show(boot_nic),
        f"one of {', '.join(names)}",
        "correct it, or set boot_mac for this server and leave boot_nic empty")]


def check_format(name_format: str) -> list[Problem]:
    """Return the problems of a format for names."""
    try:
        fields = _fields(name_format)
    except ValueError as exc:
        return [Problem(
            "discovered-inventory", "", "name_format", show(name_format),
            f"a format like server-{{serial_number}} ({exc})",
            "double a brace that is to be in the name")]
    unknown = [field for field in fields if field not in NAME_FIELDS]
    if unknown or not fields:
        return [Problem("discovered-inventory", "", "name_format", show(name_format), "one or more of %s" % ", ".join(
            f"{{{field}}}" for field in NAME_FIELDS), "correct it")]
    try:
        name_format.format(**dict.fromkeys(NAME_FIELDS, ""))
    except (ValueError, LookupError) as exc:
        return [Problem("discovered-inventory", "", "name_format", show(name_format),
                        f"a format of texts ({exc})", "leave out what is behind : or !, or write it as of a text, for "
                        "example {serial_number:>010}")]
    return []


def _fields(name_format: str) -> list[str]:
    return [part[1] for part in string.Formatter().parse(name_format) if part[1] is not None]


def _content(hosts: dict[str, Any], credentials: set[str], options: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {GROUP: {"hosts": hosts}}
    variables: dict[str, Any] = dict((variable, f"{{{{ {options[option]} }}}}") for variable, option in (
        ("bmc_username", "username_expression"), ("bmc_password", "password_expression")) if options[option])
    if options["disable_certificate_verification"]:
        variables["bmc_disable_certificate_verification"] = True
    if variables and credentials:
        content[CREDENTIALS_GROUP] = {"hosts": dict((name, {}) for name in credentials),
                                      "vars": dict(variables, ansible_group_priority=0)}
    return content


def _variables(server: dict[str, Any], ours: dict[str, Any], entry: dict[str, Any],
               options: dict[str, Any]) -> dict[str, Any]:
    """Return a server's variables, without those that somebody else has set."""
    there = {"bmc.address": (entry.get("bmc") or {}).get("address"), "boot_mac_address": entry.get("boot_mac_address")}
    found = {"bmc_address": server["address"], "boot_mac": boot_mac(server, options["boot_nic"])}
    macs = [nic["mac"] for nic in server["nics"]]
    if not options["boot_nic"] and ours.get("boot_mac") in macs:
        # Links come and go, and BMO does not let a boot MAC address change.
        found["boot_mac"] = ours["boot_mac"]
    facts = dict((field, server[field]) for field in _FACT_FIELDS)
    facts["nics"] = dict((nic["name"], nic["mac"]) for nic in server["nics"])
    if not found["boot_mac"] and there["boot_mac_address"] is None:
        facts["boot_mac_candidates"] = server["boot_mac_candidates"]
    variables = {FACTS: facts}
    for variable, option in _VALUES:
        by_hand = there[option] is not None and there[option] != ours.get(variable)
        if found[variable] and not by_hand:
            variables[variable] = found[variable]
    return variables


def boot_mac(server: dict[str, Any], boot_nic: str) -> str:
    """Return the MAC address that a server boots from, empty where that is not certain.

    :param server: what ``bmc_discovery`` found
    :param boot_nic: name of the NIC as the BMC has it, empty for the only candidate
    """
    if boot_nic:
        return next((nic["mac"] for nic in server["nics"] if nic["name"] == boot_nic), "")
    only = server["boot_mac_candidates"]
    return only[0] if len(only) == 1 else ""


def _named(servers: list[dict[str, Any]], before: dict[str, Any], entries: dict[str, Any], name_format: str,
           reserved: Iterable[str]) -> tuple[list[tuple[str, dict[str, Any]]], list[Problem]]:
    """Return ``[(name, server)]`` and the problems: known servers keep their names."""
    named, problems, taken = [], [], {}
    ordered = sorted(servers, key=lambda server: server["address"])
    former = _hardware_before(before)
    confirmed = _confirmed(ordered, former)
    names = [_known_name(server, again, before, entries) for server, again in zip(ordered, confirmed)]
    doubts = [[] if known else _doubts(server, again, former, set(names))
              for server, again, known in zip(ordered, confirmed, names)]
    for server, known, doubtful in zip(ordered, names, doubts):
        if doubtful:
            problems.append(_unclear(server, doubtful))
            continue
        name = known or _new_name(server, name_format)
        if name in taken:
            owner = f"the server at {taken[name]} has it"
        elif known is None and (name in before or (entries.get(name) or {}).get("bmc")):
            owner = "another server of the inventory has it"
        elif known is None and name in reserved:
            owner = "another host or a group of the inventory has it"
        else:
            owner = None
        if owner:
            problems.append(Problem("discovered-inventory", f"server at {server['address']}", "name_format", show(name),
                                    f"a name of its own ({owner})", "use a field in which they differ"))
            continue
        taken[name] = server["address"]
        named.append((name, server))
    return named, problems


def _hardware(found: dict[str, Any]) -> identity.Hardware:
    return identity.hardware(found["uuid"], found["serial_number"], [nic["mac"] for nic in found["nics"]])


def _hardware_before(before: dict[str, Any]) -> _ByUuid:
    """Return what the file has of the hardware of each server with a UUID."""
    facts = sorted((name, variables.get(FACTS) or {}) for name, variables in before.items())
    return _by_uuid((name, identity.hardware(item.get("uuid"), item.get("serial_number"), _texts(item.get("nics"))))
                    for name, item in facts)


def _by_uuid(servers: Iterable[tuple[str, identity.Hardware]]) -> _ByUuid:
    found: _ByUuid = {}
    for name, hardware in servers:
        if hardware.uuid:
            found.setdefault(hardware.uuid, {})[name] = hardware
    return found


def _texts(value: Any) -> list[str]:
    return [item for item in value.values() if isinstance(item, str)] if isinstance(value, dict) else []


def _confirmed(servers: list[dict[str, Any]], former: _ByUuid) -> list[list[str]]:
    """Return for each server the names that the file has of it by its hardware, none that is another one's as well."""
    found = [[name for name, known in former.get(own.uuid, {}).items()
              if identity.compared(own, known) is identity.Verdict.SAME] for own in map(_hardware, servers)]
    claims = Counter(name for names in found for name in names)
    return [[name for name in names if claims[name] == 1] for names in found]


def _doubts(server: dict[str, Any], confirmed: list[str], former: _ByUuid, names: set[str | None]) -> list[str]:
    """Return the names that the file has of a server by its UUID alone, or by the hardware of several.

    :param confirmed: of :func:`_confirmed`
    :param names: what servers of this run are known by
    """
    own = _hardware(server)
    return [name for name, known in former.get(own.uuid, {}).items() if name in confirmed or (
        name not in names and identity.compared(own, known) is not identity.Verdict.OTHER)]


def _unclear(server: dict[str, Any], names: list[str]) -> Problem:
    return Problem(
        "discovered-inventory", f"server at {server['address']}", "uuid", show(server["uuid"]),
        f"a network card or a serial number that says whether it is {few(names, 5)}, with the same UUID",
        f"if it is, set bmc_address of {names[0]} to this address; if not, add a host of another name with it")


def _others(named: list[tuple[str, dict[str, Any]]], before: dict[str, Any]) -> dict[str, list[str]]:
    """Return for each server the names of others that report its UUID."""
    former = dict((name, hardware) for group in _hardware_before(before).values() for name, hardware in group.items())
    now = dict((name, _hardware(server)) for name, server in named)
    groups = _by_uuid({**former, **now}.items())
    return dict((name, sorted(set(groups.get(hardware.uuid, {})) - {name})) for name, hardware in now.items())


def _known_name(server: dict[str, Any], confirmed: list[str], before: dict[str, Any],
                entries: dict[str, Any]) -> str | None:
    """Return the name under which a server is known: by its hardware, by the BMC's address, by a MAC address.

    :param confirmed: of :func:`_confirmed`
    """
    if len(confirmed) == 1:
        return confirmed[0]
    identity_of_bmc = bmc_address.parse(server["address"]).identity
    macs = set(nic["mac"] for nic in server["nics"])
    addresses = [(name, (entry.get("bmc") or {}).get("address")) for name, entry in sorted(entries.items())]
    addresses += [(name, variables.get("bmc_address")) for name, variables in sorted(before.items())]
    for name, address in addresses:
        if bmc_address.identity_of(address) == identity_of_bmc:
            return name
    for name, entry in sorted(entries.items()):
        if str(entry.get("boot_mac_address") or "").lower() in macs:
            return name
    return None


def _new_name(server: dict[str, Any], name_format: str) -> str:
    fields = dict((field, server[field]) for field in NAME_FIELDS if field != "host")
    fields["host"] = server["bmc"]["host"]
    name = _dns_name(name_format.format(**fields)) if all(fields[field] for field in _fields(name_format)) else ""
    # What the BMC does not report, or in signs that no name has, must not make names that are alike.
    return name or _dns_name(f"server-{fields['host']}-{server['system_path'].rpartition('/')[2]}")


def _dns_name(text: str) -> str:
    """Return a text as the name of a BareMetalHost, which is a DNS name; empty when nothing of it can be in one."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:63].strip("-")
