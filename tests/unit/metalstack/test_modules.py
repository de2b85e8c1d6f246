# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules of metal-stack against a metal-api over HTTP: order of a cluster, rules, faults, confirmations."""
from __future__ import annotations

import importlib
import json

import pytest
from ansible.module_utils.testing import patch_module_args
from fakes.metal_api import (
    FIREWALL_IMAGE,
    IMAGE,
    IMAGE_OLD,
    KEY,
    MACHINE_TAG,
    OTHER_PROJECT,
    PARTITION,
    PROJECT,
    TOKEN,
    MetalApi,
    Refused,
)

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting import parallel
from ansible_collections.metal3.baremetal.plugins.module_utils._metalstack import client

PINNED = "00000000-0000-4000-8000-000000000102"
USER_DATA = "canary-user-data-73"


@pytest.fixture
def api(monkeypatch):
    monkeypatch.setattr(parallel, "RETRY_DELAYS_SECONDS", (0, 0))
    for name in ("METAL_API_URL", "METAL_API_HMAC", "METAL_API_TOKEN", "METAL_API_HMAC_AUTH_TYPE"):
        monkeypatch.delenv(name, raising=False)
    with MetalApi() as server:
        server.add_private("nodes", "prod-nodes")
        yield server
    assert server.defects == []


@pytest.fixture
def run(api, capsys, tmp_path):
    """Run a module and return its result; no secret leaves it."""
    def call(word, check=False, **params):
        options = {"api_url": api.url, "hmac_key": KEY, **params}
        if word in ("machine", "firewall"):
            options = {"poll_interval_seconds": 0.01, "wait_timeout_seconds": 5, **options}
        module = importlib.import_module(f"ansible_collections.metal3.baremetal.plugins.modules.metalstack_{word}")
        arguments = dict({key: value for key, value in options.items() if value is not None},
                         _ansible_check_mode=check, _ansible_diff=True, _ansible_remote_tmp=str(tmp_path))
        with patch_module_args(arguments), pytest.raises(SystemExit):
            module.main()
        printed = capsys.readouterr().out
        for secret in (KEY, TOKEN, USER_DATA, "canary-bmc-12"):
            assert secret not in printed
        return json.loads(printed)
    return call


def network(**more):
    return {"name": "other-nodes", "project": PROJECT, "partition": PARTITION, **more}


def ip(**more):
    return {"name": "endpoint", "project": PROJECT, "network": "internet", **more}


def machine(**more):
    return {"name": "cp-0", "project": PROJECT, "partition": PARTITION, "size": "c1-large", "image": "ubuntu-24.04",
            "networks": ["nodes"], **more}


def firewall(**more):
    return {**machine(name="fw", image=FIREWALL_IMAGE, networks=["nodes", "internet"]), **more}


def gone(entry, **more):
    return {"name": entry["name"], "project": PROJECT, "state": "absent", **more}


def writes(api):
    return [request[:2] for request in api.requests
            if request[0] != "GET" and not request[1].endswith("/find")]


EACH = [("network", "networks", network), ("ip", "ips", ip), ("machine", "machines", machine),
        ("firewall", "firewalls", firewall)]


@pytest.mark.parametrize("word, option, entry", EACH)
def test_it_is_allocated_once_and_freed_once(api, run, word, option, entry):
    before = run(word, check=True, **{option: [entry()]})
    assert before["changed"] and before[option][0]["action"] == "allocated" and writes(api) == [], before
    first = run(word, **{option: [entry()]})
    assert first["changed"] and first[option][0]["action"] == "allocated" and not first.get("failed"), first
    assert entry()["name"] in first["diff"][0]["after"]
    again = run(word, **{option: [entry()]})
    assert not again["changed"] and again["diff"] == [] and len(writes(api)) == 1, again

    refused = run(word, **{option: [gone(entry())]})
    assert refused["failed"] and f"set confirm={entry()['name']}" in refused["msg"] and len(writes(api)) == 1
    number = run(word, **{option: [gone(entry())]}, confirm="1")
    assert number["failed"] and len(writes(api)) == 1
    freed = run(word, **{option: [gone(entry())]}, confirm=entry()["name"])
    assert freed["changed"] and freed[option][0]["action"] == "freed" and not freed.get("failed"), freed
    assert not run(word, **{option: [gone(entry())]}, confirm=entry()["name"])["changed"]


@pytest.mark.parametrize("word, option, entry", EACH)
@pytest.mark.parametrize("fault", [409, 429, 502, 503, 504, "half", "lost", "late", "no json"])
def test_a_fault_of_an_allocation_allocates_one(api, run, word, option, entry, fault):
    api.faults.append((f"/v1/{word}/allocate", fault))
    result = run(word, **{option: [entry()]})
    assert not result.get("failed") and result[option][0]["action"] == "allocated", result
    stored = {"network": [item for item in api.networks.values() if item["name"] == "other-nodes"],
              "ip": list(api.ips.values())}.get(word, api.named(entry()["name"]))
    assert len(stored) == 1
    assert not run(word, **{option: [entry()]})["changed"]


@pytest.mark.parametrize("fault", [409, 503, "half", "lost"])
def test_a_fault_of_a_release_frees_once(api, run, fault):
    run("machine", machines=[machine()])
    api.faults.append(("/v1/machine/[^/]+/free", fault))
    result = run("machine", machines=[gone(machine())], confirm="cp-0")
    if fault == "half":
        assert result["failed"] and "answers 500" in result["msg"]
        result = run("machine", machines=[gone(machine())], confirm="cp-0")
        assert not result["changed"]
    assert not result.get("failed") and api.named("cp-0") == []


class Taken:
    """Gives a machine to somebody else at a moment of the run."""

    def __init__(self, api, monkeypatch, count):
        self.api, self.count = api, count
        route = api._route

        def taking(method, path, text):
            status, answer = route(method, path, text)
            self.count -= 1 if path == "/v1/machine/find" or path.endswith("/free") else 0
            if not self.count:
                self.take()
            return status, answer
        monkeypatch.setattr(api, "_route", taking)

    def take(self):
        self.count = -1
        item = self.api.named("cp-0")[0] if self.api.named("cp-0") else self.api.machines[PINNED]
        item["allocation"] = dict(self.allocation, name="theirs", project=OTHER_PROJECT)


@pytest.mark.parametrize("more, operation", [
    ({"state": "absent"}, "free"), ({"image": IMAGE, "reinstall": True}, "reinstall"), ({"power": "off"}, "power/off"),
    ({"power": "cycle"}, "power/cycle")])
def test_what_somebody_else_was_given_since_it_was_read_is_left_alone(api, run, monkeypatch, more, operation):
    run("machine", machines=[machine(id=PINNED, image=IMAGE_OLD)])
    taken = Taken(api, monkeypatch, 1)
    taken.allocation = api.machines[PINNED]["allocation"]
    result = run("machine", machines=[machine(id=PINNED, **dict({"image": IMAGE_OLD}, **more))], confirm="cp-0")
    assert result["failed"] and 'found "theirs"' in result["msg"], result
    assert not any(path.endswith(operation) for _method, path in writes(api))
    assert api.machines[PINNED]["allocation"]["name"] == "theirs"


def test_what_somebody_else_was_given_since_it_was_read_gets_no_tags(api, run, monkeypatch):
    run("machine", machines=[machine(id=PINNED)])
    taken = Taken(api, monkeypatch, 1)
    taken.allocation = api.machines[PINNED]["allocation"]
    before = list(api.machines[PINNED]["tags"])
    result = run("machine", machines=[machine(id=PINNED, tags=["ours"])])
    assert result["failed"] and 'found "theirs"' in result["msg"], result
    assert api.machines[PINNED]["tags"] == before


def test_an_address_that_was_freed_since_it_was_read_is_not_made_static(api, run, monkeypatch):
    run("ip", ips=[ip(type="ephemeral")])
    route = api._route

    def freeing(method, path, text):
        answered = route(method, path, text)
        if path == "/v1/ip/find":
            api.ips.clear()
        return answered
    monkeypatch.setattr(api, "_route", freeing)
    result = run("ip", ips=[ip(type="static")])
    assert result["failed"] and "it was freed at this moment" in result["msg"], result
    assert not any(method == "POST" and path == "/v1/ip" for method, path in writes(api)[1:])


def test_a_release_whose_answer_got_lost_frees_nothing_of_somebody_else(api, run, monkeypatch):
    run("machine", machines=[machine(id=PINNED)])
    # Read, looked at again, freed.
    taken = Taken(api, monkeypatch, 3)
    taken.allocation = api.machines[PINNED]["allocation"]
    api.faults.append(("/v1/machine/[^/]+/free", "lost"))
    result = run("machine", machines=[gone(machine(id=PINNED))], confirm="cp-0")
    assert result["failed"] and 'found "theirs"' in result["msg"], result
    assert [path for _method, path in writes(api)].count(f"/v1/machine/{PINNED}/free") == 1
    assert api.machines[PINNED]["allocation"]["name"] == "theirs"


def meanwhile(api, monkeypatch, path, change):
    """Change something once, after the first request to a path was answered."""
    route, due = api._route, [change]

    def changing(method, asked, text):
        answered = json.loads(json.dumps(route(method, asked, text)))
        if asked == path and due:
            due.pop()()
        return answered
    monkeypatch.setattr(api, "_route", changing)


@pytest.mark.parametrize("theirs", [{"projectid": OTHER_PROJECT, "name": "endpoint"},
                                    {"projectid": PROJECT, "name": "theirs"}])
def test_an_address_that_somebody_else_took_meanwhile_is_not_ours(api, run, monkeypatch, theirs):
    meanwhile(api, monkeypatch, "/v1/ip/find", lambda: api._post_v1_ip_allocate(
        dict(theirs, networkid="internet", type="static"), "192.0.2.44"))
    result = run("ip", ips=[ip(address="192.0.2.44")])
    assert result["failed"] and not result["changed"] and "already allocated" in result["msg"], result


def reallocated_machine(api):
    found = api.machines[PINNED]["allocation"]
    found["allocationuuid"] = "00000000-0000-4000-8000-00000000aaaa"


def reallocated_address(api):
    for item in api.ips.values():
        item["allocationuuid"] = "00000000-0000-4000-8000-00000000aaaa"


def renamed(kind):
    def change(api):
        for item in getattr(api, kind).values():
            if item["name"] != "internet":
                item["name"] = "theirs"
    return change


@pytest.mark.parametrize("word, entry, change", [
    ("machine", machine(id=PINNED), reallocated_machine), ("ip", ip(), reallocated_address),
    ("ip", ip(address="192.0.2.44"), renamed("ips")),
    ("network", {"name": "prod-nodes", "project": PROJECT, "id": "nodes"}, renamed("networks"))])
def test_what_was_allocated_again_since_it_was_read_is_not_freed(api, run, monkeypatch, word, entry, change):
    option = word + "s"
    run(word, **{option: [entry]})
    before = len(writes(api))
    meanwhile(api, monkeypatch, f"/v1/{word}/find", lambda: change(api))
    keys = {key: entry[key] for key in ("id", "address") if key in entry}
    result = run(word, **{option: [gone(entry, **keys)]}, confirm=entry["name"])
    assert result["failed"] and "at this moment" in result["msg"] and len(writes(api)) == before, result


def test_an_address_that_a_machine_took_meanwhile_stays_with_it(api, run, monkeypatch):
    address = run("ip", ips=[ip(tags=["a"])])["ips"][0]["address"]
    meanwhile(api, monkeypatch, "/v1/ip/find", lambda: api.ips[address]["tags"].append(MACHINE_TAG + PINNED))
    assert run("ip", ips=[ip(tags=["b"])])["changed"]
    assert api.ips[address]["tags"] == ["b", MACHINE_TAG + PINNED]


@pytest.mark.parametrize("fault", ["lost", "no json", 502, 504])
@pytest.mark.parametrize("more, operation", [
    ({"power": "cycle"}, "power/cycle"), ({"power": "reset"}, "power/reset"),
    ({"image": IMAGE, "reinstall": True}, "reinstall")])
def test_what_interrupts_is_not_asked_for_again_when_its_answer_got_lost(api, run, more, operation, fault):
    run("machine", machines=[machine(id=PINNED, image=IMAGE_OLD)])
    api.faults.append((f"/v1/machine/[^/]+/{operation}", fault))
    result = run("machine", machines=[machine(id=PINNED, **dict({"image": IMAGE_OLD}, **more))], confirm="cp-0")
    assert result["failed"] and "not asked for a second time" in result["msg"], result
    assert [path for _method, path in writes(api)].count(f"/v1/machine/{PINNED}/{operation}") == 1


def test_what_was_refused_because_metal_api_was_busy_is_asked_for_again(api, run):
    run("machine", machines=[machine(id=PINNED)])
    api.faults.append(("/v1/machine/[^/]+/power/cycle", 503))
    result = run("machine", machines=[machine(id=PINNED, power="cycle")], confirm="cp-0")
    assert result["machines"][0]["action"] == "power_cycled" and not result.get("failed"), result


def finds(api, word):
    return [path for _method, path, *_rest in api.requests].count(f"/v1/{word}/find")


@pytest.mark.parametrize("fault, looks", [(503, 1), ("lost", 1), ("late", 2)])
def test_all_whose_allocation_failed_are_looked_for_by_one_list(api, run, fault, looks):
    """A list of all that there is for each of them, at each attempt, held up a metal-api that was busy already."""
    names = ["a", "b", "c", "d", "e", "f"]
    run("ip", ips=[ip(name="other")])
    without_faults = finds(api, "ip")
    api.faults += [("/v1/ip/allocate", fault)] * len(names)
    result = run("ip", ips=[ip(name=name) for name in names])
    assert not result.get("failed") and [item["action"] for item in result["ips"]] == ["allocated"] * 6, result
    assert sorted(item["name"] for item in api.ips.values()) == [*names, "other"]
    assert finds(api, "ip") - without_faults == without_faults + looks


@pytest.mark.parametrize("unread, is_found", [(2, True), (3, False)])
def test_allocations_wait_for_a_metal_api_that_does_not_list_what_there_is(api, run, unread, is_found):
    """One that starts again refuses the list, too: all entries failed at once, without another attempt."""
    run("ip", ips=[ip(name="other")])
    read = [("/v1/ip/find", None)] * finds(api, "ip")
    api.faults += [("/v1/ip/allocate", "lost"), ("/v1/ip/allocate", 503), *read, *[("/v1/ip/find", 503)] * unread]
    result = run("ip", ips=[ip(name="a"), ip(name="b")])
    assert bool(result.get("failed")) is not is_found, result
    assert is_found or result["msg"].count("whether it is allocated could not be read") == 2
    # The first one was carried out, whether anybody knows it or not.
    assert len(api.ips) == (3 if is_found else 2)
    assert [path for _method, path in writes(api)].count("/v1/ip/allocate") == (4 if is_found else 3)


def test_all_that_are_refused_as_still_in_use_are_looked_for_by_one_list_of_machines(api, run):
    for name in "abc":
        api.add_private(f"other-{name}", f"other-{name}")
    api.faults += [("/v1/network/free/other-.*", 422)] * 3
    before = finds(api, "machine")
    result = run("network", networks=[{"name": f"other-{name}", "project": PROJECT, "id": f"other-{name}",
                                       "state": "absent"} for name in "abc"], confirm="other-a,other-b,other-c")
    assert not result.get("failed"), result
    assert finds(api, "machine") - before == 1


def test_one_failure_does_not_hide_the_others(api, run):
    api.faults += [("/v1/ip/allocate", 400)]
    result = run("ip", ips=[ip(name="a"), ip(name="b"), ip(name="c")])
    assert result["failed"] and result["changed"] and len(api.ips) == 2
    assert sorted(item["failed"] for item in result["ips"]) == [False, False, True]
    assert "1 of 3 ips failed" in result["msg"] and len(result["written"]) == 2


def test_the_order_of_a_cluster_and_back(api, run):
    nodes = run("network", networks=[network()])["networks"][0]["id"]
    endpoint = run("ip", ips=[ip()])["ips"][0]["address"]
    rules = {"egress": [{"protocol": "tcp", "ports": [443], "to": ["0.0.0.0/0"]}],
             "ingress": [{"protocol": "tcp", "ports": [6443], "from": ["203.0.113.0/24"]}]}
    run("firewall", firewalls=[firewall(networks=[nodes, "internet"], rules=rules)])
    made = run("machine", machines=[
        machine(networks=[nodes, "internet"], ips=[endpoint], user_data=USER_DATA, tags=["cluster=prod"]),
        {"name": "worker-0", "project": PROJECT, "id": PINNED, "image": IMAGE, "networks": [nodes]}])
    assert not made.get("failed"), made
    control_plane, worker = made["machines"]
    assert control_plane["addresses"] == [endpoint]
    assert control_plane["ready"] and control_plane["event"] == "Phoned Home"
    assert worker["id"] == PINNED and worker["provider_id"] == f"metal://{PARTITION}/{PINNED}"
    assert api.named("cp-0")[0]["allocation"]["user_data"] == USER_DATA
    assert api.named("fw")[0]["allocation"]["firewall_rules"] == rules

    early = run("network", networks=[gone(network())], confirm="other-nodes")
    assert early["failed"] and "still in use" in early["msg"]
    run("machine", machines=[gone(machine()), gone({"name": "worker-0"})], confirm="cp-0,worker-0")
    run("firewall", firewalls=[gone(firewall())], confirm="fw")
    run("ip", ips=[gone(ip())], confirm=endpoint)
    assert run("network", networks=[gone(network())], confirm=nodes)["changed"]
    assert api.ips == {} and set(api.networks) == {"internet", "nodes"}
    assert not any(item.get("allocation") for item in api.machines.values())


@pytest.mark.parametrize("refusals", [1, 2])
def test_what_a_freed_machine_had_is_freed_as_soon_as_metal_api_has_released_it(api, run, refusals):
    """It frees a machine at once, and takes its addresses back afterwards."""
    api.refusals_after_freeing = refusals
    endpoint = run("ip", ips=[ip()])["ips"][0]["address"]
    run("machine", machines=[machine(networks=["nodes", "internet"], ips=[endpoint])])
    assert not run("machine", machines=[gone(machine())], confirm="cp-0").get("failed")
    result = run("ip", ips=[gone(ip())], confirm=endpoint)
    assert not result.get("failed") and result["ips"][0]["action"] == "freed" and api.ips == {}, result

    run("machine", machines=[machine()])
    assert not run("machine", machines=[gone(machine())], confirm="cp-0").get("failed")
    result = run("network", networks=[gone(network(name="prod-nodes"))], confirm="prod-nodes")
    assert not result.get("failed") and set(api.networks) == {"internet"}, result


def test_what_is_not_released_in_time_is_for_another_run(api, run):
    api.refusals_after_freeing = 9
    endpoint = run("ip", ips=[ip()])["ips"][0]["address"]
    run("machine", machines=[machine(networks=["nodes", "internet"], ips=[endpoint])])
    run("machine", machines=[gone(machine())], confirm="cp-0")
    result = run("ip", ips=[gone(ip())], confirm=endpoint)
    assert result["failed"] and not result["changed"] and endpoint in api.ips
    assert "ip with machine scope can not be deleted" in result["msg"] and "no machine has it any more" in result["msg"]


def test_what_a_machine_has_is_refused_at_once(api, run):
    endpoint = run("ip", ips=[ip()])["ips"][0]["address"]
    run("machine", machines=[machine(networks=["nodes", "internet"], ips=[endpoint])])
    api.requests.clear()
    assert run("ip", ips=[gone(ip())], confirm=endpoint)["failed"]
    assert run("network", networks=[gone(network(name="prod-nodes"))], confirm="prod-nodes")["failed"]
    assert sum("/free/" in path for dummy, path, dummy_headers in api.requests) == 2


def test_a_firewall_is_in_a_shared_network_of_its_project_beside_its_own(api, run):
    """metal-api: one network that is not shared, and beside it any number of shared ones; a machine has one network."""
    api.add_private("storage", "storage", shared=True)
    api.add_private("more", "more")
    both = ["nodes", "storage", "internet"]
    assert not run("firewall", firewalls=[firewall(networks=both)]).get("failed")
    assert not run("firewall", firewalls=[firewall(name="fw2", networks=["storage", "internet"])]).get("failed")
    for word, entry in (("machine", machine(networks=both)), (
            "firewall", firewall(name="fw3", networks=["nodes", "more"]))):
        result = run(word, **{word + "s": [entry]})
        assert result["failed"] and "networks: found 2 private networks" in result["msg"], word


REFUSED = [
    ("machine", machine(networks=["nodes", "more"]), "machine cp-0: networks: found 2 private networks"),
    ("machine", machine(networks=["internet"]), "networks: found 0 private networks"),
    ("machine", machine(networks=["others"]), "networks[0].name: found a network of project"),
    ("machine", machine(networks=["nowhere"]), 'networks[0].name: found "nowhere"'),
    ("machine", machine(image=FIREWALL_IMAGE), "image: found"),
    ("machine", machine(image="debian-12"), 'image: found "debian-12"'),
    ("machine", machine(size="c9"), 'size: found "c9", expected one of c1-large'),
    ("machine", machine(partition="fra-9"), 'partition: found "fra-9"'),
    ("machine", machine(ips=["192.0.2.77"]), "ips[0]: found"),
    ("machine", machine(ips=["192.0.2.66"]), "ips[0]: found"),
    ("machine", machine(ips=["192.0.2.55"]), "expected an address of one of networks"),
    ("machine", machine(ips=["192.0.2.055"]), "expected an IPv4 or IPv6 address"),
    ("machine", machine(id="rack-1"), "expected the UUID of a machine"),
    ("machine", machine(id="00000000-0000-4000-8000-0000000009ff"), "expected a machine that metal-api knows"),
    ("machine", machine(image=None), "image: not set"),
    ("firewall", firewall(image=IMAGE), "which lacks the feature firewall"),
    ("firewall", firewall(rules={"egress": [{"protocol": "tcp", "ports": [0], "to": ["x"]}]}), "rules.egress[0].ports"),
    ("network", network(project="3f1c6b0e"), 'network other-nodes: project: found "3f1c6b0e", expected one of'),
    ("ip", ip(project="prod"), 'ip endpoint: project: found "prod"'),
    ("machine", machine(project="prod"), 'machine cp-0: project: found "prod"'),
    ("network", network(partition="fra-9"), 'network other-nodes: partition: found "fra-9"'),
    ("network", network(destination_prefixes=["x"]), "destination_prefixes[0]"),
    ("ip", ip(network="nowhere"), 'network: found "nowhere"'),
    ("ip", ip(address="192.0.2.9", address_family="IPv4"), "address_family: found"),
    ("network", network(labels={"ha": True}), "labels.ha: found true, expected a text"),
    ("network", network(labels={"tier": 3}), "labels.tier: found 3, expected a text"),
    ("machine", machine(power="off"), 'machine cp-0: power: found "off"'),
    ("ip", ip(network=None), "network: not set"),
    ("ip", ip(address="198.51.100.1"), "expected an address of 192.0.2.0/24"),
    ("ip", ip(name="a,b"), "without a comma")]


@pytest.mark.parametrize("word, entry, text", REFUSED, ids=[str(number) for number in range(len(REFUSED))])
def test_it_is_refused_before_anything_is_changed(api, run, word, entry, text):
    api.add_private("more", "more")
    api.add_private("others", "others", project=OTHER_PROJECT)
    for address, project in (("192.0.2.66", OTHER_PROJECT), ("192.0.2.55", PROJECT)):
        api._post_v1_ip_allocate({"networkid": "internet", "projectid": project, "type": "static"}, address)
    result = run(word, **{word + "s": [{key: value for key, value in entry.items() if value is not None}]})
    assert result["failed"] and text in result["msg"] and "nothing was changed" in result["msg"], result["msg"]
    assert writes(api) == []


def test_all_problems_are_reported_at_once(api, run):
    result = run("machine", machines=[machine(size="c9", image="x"), machine(name="b", networks=[])])
    assert "3 problems, nothing was changed" in result["msg"] and len(result["problems"]) == 3, result


def test_a_name_that_fits_two_is_refused(api, run):
    api.add_private("nodes-2", "prod-nodes")
    result = run("network", networks=[gone({"name": "prod-nodes"})], confirm="prod-nodes")
    assert result["failed"] and "nodes, nodes-2" in result["msg"] and "set id" in result["msg"]
    assert run("network", networks=[gone({"name": "prod-nodes"}, id="nodes-2")], confirm="nodes-2")["changed"]
    assert "nodes" in api.networks and "nodes-2" not in api.networks


@pytest.mark.parametrize("word, option, entry", EACH[2:])
@pytest.mark.parametrize("reinstall", [False, True])
def test_a_name_of_two_projects_confirms_neither(api, run, word, option, entry, reinstall):
    api.add_private("others", "prod-nodes", project=OTHER_PROJECT)
    changed = {"image": IMAGE, "reinstall": True} if reinstall else {"state": "absent"}
    if word == "firewall" and reinstall:
        changed = {"power": "off"}
    image = {} if word == "firewall" else {"image": IMAGE_OLD}
    ours, theirs = entry(**image), entry(**image, project=OTHER_PROJECT)
    theirs["networks"] = ["others", *theirs["networks"][1:]]
    # Both are awaited, though they have one name.
    made = run(word, **{option: [ours, theirs]})[option]
    assert [item["ready"] for item in made] == [True, True] and len({item["id"] for item in made}) == 2
    name, both = ours["name"], [dict(ours, **changed), dict(theirs, **changed)]
    before = len(writes(api))

    def confirmed(confirm):
        return run(word, **{option: both}, confirm=confirm)
    for given in (None, name, f"{PROJECT}/{name}", f"{name},{PROJECT}/{name}", made[1]["id"]):
        refused = confirmed(given)
        assert refused["failed"] and f"set confirm={OTHER_PROJECT}/{name},{PROJECT}/{name}" in refused["msg"], refused
    assert f'found "{name}", which names 2 {option}' in confirmed(name)["msg"] and len(writes(api)) == before
    done = confirmed(f"{PROJECT}/{name}, {made[1]['id']}")
    assert not done.get("failed") and [item["changed"] for item in done[option]] == [True, True], done


def test_a_name_confirms_when_it_is_of_one_project_in_the_list(api, run):
    api.add_private("others", "prod-nodes", project=OTHER_PROJECT)
    run("machine", machines=[machine(), machine(project=OTHER_PROJECT, networks=["others"])])
    done = run("machine", machines=[gone(machine()), machine(project=OTHER_PROJECT, networks=["others"])],
               confirm="cp-0")
    assert [item["action"] for item in done["machines"]] == ["freed", "unchanged"]
    assert [item["allocation"]["project"] for item in api.named("cp-0")] == [OTHER_PROJECT]


def test_what_another_project_has_is_not_freed(api, run):
    api.add_private("others", "others", project=OTHER_PROJECT)
    result = run("network", networks=[gone({"name": "others"}, id="others")], confirm="others")
    assert result["failed"] and "another project" in result["msg"] and "others" in api.networks


@pytest.mark.parametrize("word, stored, entry, field", [
    # A cluster whose address is mistyped, and one of another partition with machines of the same names.
    ("ip", ip(name="endpoint-of-test", address="192.0.2.44"), ip(address="192.0.2.44"), "name"),
    ("network", network(), network(name="mine", id="other-nodes"), "name"),
    ("ip", ip(address="192.0.2.44"), ip(address="192.0.2.44", network="nodes"), "network"),
    ("machine", machine(), machine(partition="fra-2"), "partition"),
    ("firewall", firewall(), firewall(partition="fra-2"), "partition")])
def test_what_is_another_one_than_the_entry_says_is_not_freed(api, run, word, stored, entry, field):
    option = word + "s"
    made = run(word, **{option: [stored]})[option][0]
    keys = {key: made["id"] if key == "id" else entry[key] for key in ("id", "address", "network", "partition")
            if key in entry}
    before = len(writes(api))
    result = run(word, **{option: [gone(entry, **keys)]}, confirm=entry["name"])
    assert result["failed"] and f"{field}: found" in result["msg"] and len(writes(api)) == before, result["msg"]
    assert "is not freed" in result["msg"]


def test_what_has_no_name_is_freed_by_its_id(api, run):
    api.add_private("bare", None)
    assert run("network", networks=[gone({"name": "x"}, id="bare")], confirm="bare")["changed"]


@pytest.mark.parametrize("word, entries", [
    ("network", [gone({"name": "prod-nodes"}), network(name="prod-nodes", id="nodes")]),
    ("network", [gone({"name": "prod-nodes"}), gone({"name": "prod-nodes"}, partition=PARTITION)]),
    ("machine", [machine(), machine(partition="fra-2")])])
def test_two_entries_that_mean_one_object_are_refused(api, run, word, entries):
    result = run(word, **{word + "s": entries}, confirm="prod-nodes")
    assert result["failed"] and "found 2 entries" in result["msg"] and writes(api) == [], result["msg"]


def test_a_name_may_be_of_addresses_of_two_networks(api, run):
    api.add_private("more", "more", prefixes=["10.1.0.0/24"])
    entries = [ip(), ip(network="more")]
    assert run("ip", ips=entries)["counts"]["changed"] == 2
    assert not run("ip", ips=entries)["changed"]


def test_a_machine_that_somebody_else_has_is_not_taken(api, run):
    run("machine", machines=[machine(id=PINNED)])
    result = run("machine", machines=[machine(name="b", id=PINNED)])
    assert result["failed"] and 'allocated as "cp-0"' in result["msg"]


def test_what_differs_is_updated_and_what_cannot_is_refused(api, run):
    run("machine", machines=[machine(tags=["a"])])
    assert run("machine", machines=[machine(tags=["b"])])["machines"][0]["action"] == "updated"
    assert not run("machine", machines=[machine(tags=["b"])])["changed"]
    assert "machine.metal-stack.io/rack=r1" in api.named("cp-0")[0]["tags"]
    result = run("machine", machines=[machine(hostname="x")])
    assert result["failed"] and "metal-stack cannot change it" in result["msg"]
    run("ip", ips=[ip(type="ephemeral")])
    assert run("ip", ips=[ip(type="static")])["changed"]
    assert run("ip", ips=[ip(type="ephemeral")])["failed"]
    assert run("network", networks=[{"name": "prod-nodes", "project": PROJECT, "labels": {"a": "b"}}])["changed"]
    assert api.networks["nodes"]["labels"] == {"a": "b"}


def test_tags_of_an_address_leave_that_of_the_machine_that_has_it(api, run):
    address = run("ip", ips=[ip(tags=["a"])])["ips"][0]["address"]
    run("machine", machines=[machine(networks=["nodes", "internet"], ips=[address])])
    held = [tag for tag in api.ips[address]["tags"] if tag.startswith(MACHINE_TAG)]
    again = run("ip", ips=[ip(tags=["a"])])
    assert held and not again["changed"] and again["ips"][0]["tags"] == ["a"], again
    assert run("ip", ips=[ip(tags=["b", "b"])])["changed"]
    assert api.ips[address]["tags"] == ["b", *held]
    assert not run("ip", ips=[ip(tags=["b", "b"])])["changed"]
    # Without that tag metal-api gives an address away that a machine has.
    assert "can not be deleted" in run("ip", ips=[gone(ip())], confirm="endpoint")["msg"]


@pytest.mark.parametrize("word, option, entry", EACH[1:])
def test_tags_that_metal_api_writes_itself_are_refused(api, run, word, option, entry):
    result = run(word, **{option: [entry(tags=["a", f"{MACHINE_TAG}{PINNED}"])]})
    assert result["failed"] and "tags[1]: found" in result["msg"] and writes(api) == [], result["msg"]


@pytest.mark.parametrize("word, option, entry", EACH[2:])
def test_a_description_is_kept_and_changed(api, run, word, option, entry):
    name = entry()["name"]
    run(word, **{option: [entry(description="of team a")]})
    run(word, **{option: [entry(tags=["b"])]})
    assert api.named(name)[0]["allocation"]["description"] == "of team a"
    changed = run(word, **{option: [entry(description="of team b")]})
    assert changed[option][0]["action"] == "updated" and "+" not in changed["diff"][0]["before"], changed
    assert api.named(name)[0]["allocation"]["description"] == "of team b"
    assert "b" in api.named(name)[0]["tags"]
    assert not run(word, **{option: [entry(description="of team b")]})["changed"]


RULES = {"egress": [{"protocol": "tcp", "ports": [80, 443], "to": ["0.0.0.0/0"]},
                    {"protocol": "udp", "ports": [53], "to": ["192.0.2.0/24", "::/0"], "comment": "dns"}]}
SAME_RULES = {"egress": [dict(RULES["egress"][1], to=["::/0", "192.0.2.0/24"]),
                         dict(RULES["egress"][0], ports=[443, 80], comment="")], "ingress": []}
# What cannot be changed: option, its value at the allocation, the same in another form, another one.
FIXED = [
    ("firewall", "rules", RULES, SAME_RULES, {"egress": RULES["egress"][:1]}),
    ("firewall", "rules", RULES, None, {}),
    ("firewall", "rules", {}, {"egress": [], "ingress": []}, RULES),
    ("firewall", "networks", ["nodes", "internet"], ["internet", "nodes"], ["nodes", "others"]),
    ("machine", "networks", ["nodes"], None, ["nodes", "internet"]),
    ("machine", "ips", None, None, ["192.0.2.1"]),
    ("machine", "filesystem_layout", None, None, "raid"),
    # metal-api takes no empty ones.
    ("machine", "tags", ["a"], ["a", "a"], []),
    ("firewall", "tags", ["a"], None, []),
    ("network", "destination_prefixes", ["2001:DB8::/32"], ["2001:db8::/32"], []),
    ("network", "shared", True, True, False)]


@pytest.mark.parametrize("word, field, given, same, other", FIXED,
                         ids=[f"{item[0]}-{item[1]}-{number}" for number, item in enumerate(FIXED)])
def test_what_metal_api_does_not_change_is_refused(api, run, word, field, given, same, other):
    option, _option, entry = next(item for item in EACH if item[0] == word)
    option = _option

    def with_(value):
        return {option: [entry(**({} if value is None else {field: value}))]}
    first = run(word, **with_(given))
    assert first["changed"] and not first.get("failed"), first
    assert not run(word, **with_(same))["changed"]
    before = len(writes(api))
    result = run(word, **with_(other))
    assert result["failed"] and f"{field}: found" in result["msg"] and "cannot change it" in result["msg"], result
    assert len(writes(api)) == before


def test_another_image_needs_reinstall_and_its_confirmation(api, run):
    run("machine", machines=[machine(image=IMAGE_OLD)])
    assert "cannot change it" in run("machine", machines=[machine(image=IMAGE)])["msg"]
    refused = run("machine", machines=[machine(image=IMAGE, reinstall=True)])
    assert refused["failed"] and "is reinstalled and loses what is on its disks" in refused["msg"]
    done = run("machine", machines=[machine(image=IMAGE, reinstall=True)], confirm="cp-0")
    assert done["machines"][0]["action"] == "reinstalled" and done["machines"][0]["image"] == IMAGE
    assert done["machines"][0]["ready"]
    assert not run("machine", machines=[machine(image=IMAGE, reinstall=True)], confirm="cp-0")["changed"]


def test_a_series_is_reinstalled_as_its_newest_image(api, run):
    given = "ubuntu-24.04"
    run("machine", machines=[machine(image=IMAGE_OLD)])
    api.images.insert(0, dict(api.images[0], id="ubuntu-24.04.9"))
    # What is installed is one of the series, and stays.
    assert not run("machine", machines=[machine(image=given, reinstall=True)])["changed"]
    api.named("cp-0")[0]["allocation"]["image"] = dict(api.images[0], id="debian-12.1")
    before = run("machine", machines=[machine(image=given, reinstall=True)], check=True, confirm="cp-0")
    assert IMAGE in before["diff"][0]["after"]
    done = run("machine", machines=[machine(image=given, reinstall=True)], confirm="cp-0")
    assert done["machines"][0]["action"] == "reinstalled" and done["machines"][0]["image"] == IMAGE, done
    assert not run("machine", machines=[machine(image=given, reinstall=True)])["changed"]


@pytest.mark.parametrize("image, text", [("ubuntu-99.04", "an image that metal-api has"),
                                         (FIREWALL_IMAGE, "which lacks the feature machine")])
def test_no_machine_is_reinstalled_when_an_image_is_wrong(api, run, image, text):
    run("machine", machines=[machine(image=IMAGE_OLD), machine(name="b", image=IMAGE_OLD)])
    before = len(writes(api))
    result = run("machine", machines=[machine(image=IMAGE, reinstall=True), machine(
        name="b", image=image, reinstall=True)], confirm="cp-0,b")
    assert result["failed"] and text in result["msg"] and len(writes(api)) == before, result["msg"]


def test_power(api, run):
    run("machine", machines=[machine()])
    assert not run("machine", machines=[machine(power="on")])["changed"]
    assert "is interrupted by power off" in run("machine", machines=[machine(power="off")])["msg"]
    assert run("machine", machines=[machine(power="off")], confirm="cp-0")["machines"][0]["action"] == "powered_off"
    assert not run("machine", machines=[machine(power="off")])["changed"]
    assert run("machine", machines=[machine(power="on")])["machines"][0]["action"] == "powered_on"
    assert run("machine", machines=[machine(power="cycle")], confirm="cp-0")["machines"][0]["action"] == "power_cycled"
    assert api.named("cp-0")[0]["power"] == "ON"


@pytest.mark.parametrize("field, text", [("crash_loop", "crash loop"),
                                         ("failed_machine_reclaim", "release of it failed")])
def test_a_wait_ends_with_a_failure(api, run, field, text):
    api.ready = False
    run("machine", machines=[machine()], wait=False)
    api.named("cp-0")[0]["events"].update(
        {field: True, "last_error_event": {"event": "Crashed", "message": "no disk found"}})
    result = run("machine", machines=[machine()], wait_timeout_seconds=60)
    assert result["failed"] and text in result["msg"] and "no disk found" in result["msg"], result["msg"]
    assert "free it or reinstall it" in result["msg"]


def test_a_timeout_names_the_last_event(api, run):
    api.ready = False
    result = run("machine", machines=[machine()], wait_timeout_seconds=1)
    assert result["failed"] and result["changed"] and "event Preparing" in result["msg"]
    assert "raise wait_timeout_seconds" in result["msg"]


@pytest.mark.parametrize("seconds", [-1, 0])
def test_metal_api_is_asked_with_pauses(api, run, seconds):
    result = run("machine", machines=[machine()], poll_interval_seconds=seconds)
    assert result["failed"] and f"poll_interval_seconds: found {seconds}" in result["msg"], result
    assert writes(api) == []


@pytest.mark.parametrize("state", ["present", "absent"])
def test_a_machine_that_is_allocated_again_is_not_waited_for(api, run, monkeypatch, state):
    api.ready = False
    run("machine", machines=[machine(id=PINNED)], wait=False)
    allocation = dict(api.machines[PINNED]["allocation"], allocationuuid="00000000-0000-4000-8000-00000000aaaa")
    route, asked = api._route, []

    def taking(method, path, text):
        answered = json.loads(json.dumps(route(method, path, text)))
        asked.append(path)
        if path.endswith("/free") or (state == "present" and asked.count("/v1/machine/find") == 1):
            api.machines[PINNED]["allocation"] = allocation
            api.machines[PINNED]["events"]["log"] = [{"event": "Phoned Home"}]
        return answered
    monkeypatch.setattr(api, "_route", taking)
    entry = machine(id=PINNED) if state == "present" else gone(machine(id=PINNED))
    result = run("machine", machines=[entry], confirm="cp-0" if state == "absent" else None, wait_timeout_seconds=1)
    if state == "absent":
        assert not result.get("failed") and result["machines"][0]["action"] == "freed", result
    else:
        assert result["failed"] and "it was freed while it was waited for" in result["msg"], result


def test_a_token_that_ends_during_a_wait_leaves_the_results(api, run, monkeypatch):
    route, real, finished = api._route, api._log_in, []

    def routed(method, path, text):
        finished.extend([1] if path == "/v1/machine/allocate" else [])
        return route(method, path, text)

    def log_in(request):
        if len(finished) == 2:
            raise Refused(401, "token is expired")
        real(request)
    api.ready = False
    monkeypatch.setattr(api, "_route", routed)
    api._log_in = log_in
    result = run("machine", machines=[machine(), machine(name="b")], hmac_key=None, token=TOKEN)
    assert result["failed"] and result["changed"] and result["counts"] == {"total": 2, "changed": 2, "failed": 2}
    assert {item["id"] for item in result["machines"]} == {api.named(name)[0]["id"] for name in ("cp-0", "b")}
    for item in result["machines"]:
        assert "token is expired" in item["error"] and "allocated" in item["error"], item


def test_a_wait_goes_on_while_metal_api_does_not_answer(api, run):
    run("machine", machines=[machine()], wait=False)
    real, count = api._log_in, []

    def log_in(request):
        count.append(1)
        if 2 <= len(count) <= 4:
            raise Refused(503, "starting")
        real(request)
    api._log_in = log_in
    result = run("machine", machines=[machine()])
    assert not result.get("failed") and result["machines"][0]["ready"] and len(count) > 4, result


LOGINS = [
    ({"hmac_key": "wrong"}, "answers 401", "check hmac_key"),
    ({"hmac_key": KEY, "hmac_user": "Metal-View"}, "answers 403", "use Metal-Edit"),
    ({"hmac_key": None, "token": "wrong"}, "answers 401", "check hmac_key"),
    ({"hmac_key": None}, "found neither", "set one"),
    ({"token": TOKEN}, "found both", "expected one"),
    ({"hmac_key": KEY + "\n"}, "control character", "remove the line break"),
    ({"hmac_key": None, "token": "\u201c" + TOKEN}, "character outside of ASCII", "copy it again"),
    ({"request_timeout_seconds": -1}, "request_timeout_seconds: found -1", "expected at least 1"),
    ({"api_url": "http://[::1"}, 'api_url: found "http://[::1"', "expected a URL such"),
    ({"api_url": "metal-api"}, 'api_url: found "metal-api"', "expected a URL"),
    ({"api_url": "http://127.0.0.1:1/metal"}, "no answer of http://127.0.0.1:1/metal", "check api_url"),
    ({"ca_cert": "/nonexistent"}, "ca_cert /nonexistent", "no such file")]


@pytest.mark.parametrize("params, found, hint", LOGINS, ids=[item[1] for item in LOGINS])
def test_a_login_that_does_not_work_is_reported(api, run, params, found, hint):
    result = run("ip", ips=[ip()], **params)
    assert result["failed"] and found in result["msg"] and hint in result["msg"], result["msg"]
    assert api.ips == {}


def test_a_token_and_the_environment_log_in(api, run, monkeypatch):
    assert run("ip", ips=[ip()], hmac_key=None, token=TOKEN)["changed"]
    monkeypatch.setenv("METAL_API_URL", api.url)
    monkeypatch.setenv("METAL_API_HMAC", KEY)
    assert not run("ip", ips=[ip()], hmac_key=None, api_url=None)["changed"]
    monkeypatch.setenv("METAL_API_URL", "http://198.51.100.1/metal")
    assert "found neither" in run("ip", ips=[ip()], hmac_key=None)["msg"]


@pytest.mark.parametrize("word, option, entry", EACH)
def test_a_refusal_that_quotes_a_login_of_the_environment_hides_it(api, run, monkeypatch, word, option, entry):
    monkeypatch.setenv("METAL_API_TOKEN", TOKEN)
    api.refuse_quoting = True
    result = run(word, **{option: [entry()]}, hmac_key=None)
    assert result["failed"] and "invalid: " in result["msg"], result


def test_each_request_has_a_salt_of_its_own_and_no_key(api, run):
    run("machine", machines=[machine()])
    salts = [request[2]["X-Data-Salt"] for request in api.requests]
    assert len(set(salts)) == len(salts) > 5
    assert KEY not in json.dumps(api.requests)


def test_a_redirect_is_not_followed(api, run):
    api.faults.append(("/v1/ip/find", "redirect"))
    result = run("ip", ips=[ip()])
    assert result["failed"] and "redirects to" in result["msg"] and "set api_url" in result["msg"]


def test_an_answer_without_end_is_refused(api, run, monkeypatch):
    monkeypatch.setattr(client, "ANSWER_LIMIT_BYTES", 100)
    result = run("ip", ips=[ip()])
    assert result["failed"] and "an answer of more than" in result["msg"]


def test_an_answer_of_many_values_is_refused(api, run, monkeypatch):
    monkeypatch.setattr(client.answer_limits, "VALUES_LIMIT", 1)
    result = run("ip", ips=[ip()])
    assert result["failed"] and "million values" in result["msg"]


def test_an_id_that_leads_elsewhere_is_no_part_of_a_path(api, run):
    api.add_private("..", "odd")
    result = run("network", networks=[gone({"name": "odd"})], confirm="odd")
    assert result["failed"] and "can be no part of a path" in result["msg"] and writes(api) == []


def test_info(api, run):
    run("machine", machines=[machine(user_data=USER_DATA)])
    run("firewall", firewalls=[firewall()])
    found = run("info", hmac_user="Metal-View")
    assert [item["name"] for item in found["firewalls"]] == ["fw"] and found["projects"][0]["id"] == PROJECT
    assert len(found["machines"]) == 3 and len(found["images"]) == 3 and not found["changed"]
    mine = run("info", gather=["machines"], project=PROJECT)
    assert [item["name"] for item in mine["machines"]] == ["cp-0"] and set(mine) >= {"machines"} and "ips" not in mine
    assert run("info", gather=["networks"], names=["prod-nodes"])["networks"][0]["is_private"]
