# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which changes of a host take away what is deployed on it."""
from __future__ import annotations

import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._host.enrolment.change_rules import (
    check_held,
    unconfirmed,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import redeploy as host_redeploy

IMAGE = {"url": "http://192.0.2.1/i", "checksum": "http://192.0.2.1/s"}
OTHER = dict(IMAGE, url="http://192.0.2.1/j")


def stored(state="provisioned", **spec):
    return {"metadata": {"name": "h1"}, "spec": spec, "status": {"provisioning": {"state": state}}}


@pytest.mark.parametrize("bmh, options, fields", [
    (stored(image=IMAGE), {"image": OTHER}, ["image.url"]),
    (stored(image=IMAGE), {"image": {}}, ["image.url"]),
    (stored(customDeploy={"method": "a"}), {"custom_deploy": {"method": "b"}}, ["custom_deploy.method"]),
    (stored(image=IMAGE, customDeploy={"method": "a"}), {"image": OTHER, "custom_deploy": {}},
     ["image.url", "custom_deploy.method"]),
    (stored(image=IMAGE), {}, []),
    (stored(image=IMAGE), {"image": dict(IMAGE, checksum="http://192.0.2.1/t")}, []),
    (stored(), {"image": IMAGE}, []),
    # What is not on the disk yet can't be lost.
    (stored("available", image=IMAGE), {"image": OTHER}, []),
    (stored("provisioning", image=IMAGE), {"image": OTHER}, []),
])
def test_what_is_refused(bmh, options, fields):
    assert [field for field, dummy, dummy2 in host_redeploy.losses(dict(options, name="h1"), bmh)] == fields


def test_nothing_is_taken_from_a_host_in_use_unless_it_is_forced():
    bmh = stored(image=IMAGE, consumerRef={"kind": "Metal3Machine", "name": "m1"})
    entry = {"name": "h1", "image": OTHER}
    assert host_redeploy.losses(entry, bmh) == []
    assert len(host_redeploy.losses(entry, bmh, forced=("h1",))) == 1


def held(annotation, value="", **provisioning):
    bmh = stored(image=IMAGE)
    bmh["metadata"]["annotations"] = {f"baremetalhost.metal3.io/{annotation}": value}
    bmh["status"]["provisioning"].update(provisioning)
    return bmh


def without_status(bmh):
    bmh["metadata"]["annotations"]["baremetalhost.metal3.io/status"] = json.dumps(bmh.pop("status"))
    return bmh


@pytest.mark.parametrize("bmh, image, words", [
    (held("paused"), OTHER, "h1: image.url: found a change of a paused host"),
    (held("detached"), {}, "h1: image.url: found a change of a detached host"),
    (held("paused"), IMAGE, None),
    # The description that was lost is given back.
    (held("paused", image=OTHER), OTHER, None),
    # A move or a restore has brought it, and its status is saved at it.
    (without_status(held("paused")), OTHER, "h1: image.url: found a change of a paused host"),
    (without_status(held("paused")), IMAGE, None),
    # The run that changes its BMC attaches it.
    (held("detached", '{"metal3.baremetal/bmc-change":true}'), OTHER, None),
    (stored(image=IMAGE), OTHER, None),
])
def test_what_is_confirmed_is_not_done_later(bmh, image, words):
    found = check_held({"name": "h1", "image": image}, bmh)
    assert len(found) == (words is not None)
    assert words is None or words in str(found[0])


LEFT = '{"metal3.baremetal/bmc-change":true}'


@pytest.mark.parametrize("spec, entry, allowed, field", [
    # Somebody has taken the image away since, or set another one, or had the server switched off.
    ({"image": None}, {}, (), "image.url"), ({"image": OTHER}, {}, (), "image.url"),
    ({"online": False}, {}, (), "online"), ({"image": None}, {}, ("allow_power_off",), "image.url"),
    ({"image": None}, {}, ("allow_deprovision",), None), ({"online": False}, {}, ("allow_power_off",), None),
    # The entry gives it back, or is what the run that ended had confirmed, which is asked for again.
    ({"image": None}, {"image": IMAGE}, (), None), ({"online": False}, {"online": True}, (), None),
    ({"image": OTHER}, {"image": OTHER}, (), "image.url"), ({"image": None}, {"state": "absent"}, (), None),
    # Nothing is written to a host in use.
    ({"image": None, "consumerRef": {"kind": "M", "name": "m"}}, {"image": IMAGE}, (), "image.url"),
    ({}, {}, (), None)])
def test_a_host_that_an_ended_run_has_left_detached_costs_what_others_have_changed_since(spec, entry, allowed, field):
    """Whoever runs the playbook again need not know of it, and the run attaches the host."""
    bmh = held("detached", LEFT, image=IMAGE)
    bmh["status"].update(operationalStatus="detached", poweredOn=True)
    bmh["spec"].update(spec)
    found = unconfirmed(dict(entry, name="h1"), bmh, **dict.fromkeys(allowed, True))
    assert [problem.field for problem in found] == ([field] if field else [])
    assert all("left detached" in problem.actual for problem in found)
