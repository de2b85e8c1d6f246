# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a wait for hosts ends, well or badly, and what is reported meanwhile."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_report import status_texts
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import errors as host_errors
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import goals as host_goals
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import table as host_table

IMAGE = {"image": {"url": "http://192.0.2.1/i"}}


PAIR = {"hardwareRAIDVolumes": [{"level": "1", "sizeGibibytes": 5}]}


def bmh(state="", status="OK", spec=None, image=None, error=None, metadata=None, raid=None):
    body = {"operationalStatus": status, "provisioning": {"state": state, "image": {"url": image} if image else {}}}
    if raid:
        body["provisioning"]["raid"] = raid
    if error:
        body.update(operationalStatus="error", errorType=error[0], errorMessage=error[1], errorCount=error[2])
    return {"metadata": dict({"name": "h1"}, **(metadata or {})), "status": body,
            "spec": dict({"online": True, "bmc": {"address": "ipmi://192.0.2.1"}}, **(spec or {}))}


@pytest.mark.parametrize("obj, goals", [
    (None, {"deleted"}),
    (bmh(""), set()),
    (bmh("unmanaged"), set()),
    (bmh("registering"), set()),
    (bmh("inspecting"), {"registered"}),
    (bmh("match profile"), {"registered"}),
    (bmh("preparing"), {"registered", "inspected"}),
    (bmh("ready"), {"registered", "inspected", "available"}),
    (bmh("available"), {"registered", "inspected", "available"}),
    (bmh("available", error=("power management error", "x", 1)), set()),
    (bmh("available", spec=IMAGE), {"registered", "inspected", "available"}),
    (bmh("provisioning", spec=IMAGE), {"registered", "inspected", "available"}),
    (bmh("provisioned", spec=IMAGE, image="http://192.0.2.1/i"), {"registered", "inspected", "available",
                                                                  "provisioned"}),
    (bmh("provisioned", spec=IMAGE, image="http://192.0.2.1/old"), {"registered", "inspected", "available"}),
    (bmh("provisioned", image="http://192.0.2.1/i"), {"registered", "inspected"}),
    # As BMO writes it, with an empty URL.
    ({"metadata": {"name": "h1"}, "spec": {"online": True, "customDeploy": {"method": "m"}}, "status": {
        "operationalStatus": "OK", "provisioning": {
            "state": "provisioned", "image": {"url": ""}, "customDeploy": {"method": "m"}}}},
     {"registered", "inspected", "available", "provisioned"}),
    (bmh("deprovisioning"), {"registered", "inspected"}),
    (bmh("externally provisioned"), {"registered", "inspected", "available", "provisioned"}),
    (bmh("available", metadata={"deletionTimestamp": "t"}), set()),
    (bmh("available", spec={"raid": PAIR}), {"registered", "inspected"}),
    (bmh("available", spec={"raid": PAIR}, raid=PAIR), {"registered", "inspected", "available"}),
    (bmh("provisioned", spec=dict(IMAGE, raid=PAIR), image="http://192.0.2.1/i"), {"registered", "inspected",
                                                                                   "available", "provisioned"}),
])
def test_goals_reached(obj, goals):
    assert set(goal for goal in host_goals.GOALS if host_goals.reached(obj, goal)) == goals


def history(goal="available", baseline=None, **options):
    return host_goals.HostHistory(goal, baseline, 0, **options)


UNREACHABLE = ("registration error", "Unable to connect to https://192.0.2.1. Error: timed out")
REFUSED = ("registration error", "HTTP GET https://192.0.2.1/redfish/v1/ returned code 401. unknown error")
INSPECTING = "Failed to inspect hardware. Reason: unable to start inspection: "
MOUNTING = INSPECTING + "Virtual media mount failed for node u with image https://192.0.2.1/boot-u.iso. Error: "
WRITING = "Image provisioning failed: Deploy step deploy.write_image failed on node u. "


def test_a_new_host_goes_its_way():
    seen = history()
    assert seen.update(None, 0) == []
    assert seen.state == "new" and seen.waiting
    for now, state in ((1, ""), (2, "registering"), (20, "inspecting"), (50, "preparing")):
        seen.update(bmh(state), now)
        assert seen.waiting
    assert seen.seconds_in_state(55) == 5
    seen.update(bmh("available"), 60)
    assert seen.verdict.outcome == host_goals.REACHED
    assert seen.seconds_taken(100) == 60


def test_refused_credentials_end_the_wait_at_once():
    seen = history()
    events = seen.update(bmh("registering", error=(*REFUSED, 1)), 10)
    assert seen.verdict.outcome == host_goals.FAILED
    assert "refused the credentials" in seen.verdict.cause and "code 401" in seen.verdict.full_cause
    assert "bmc.password" in seen.verdict.next_step
    assert events[0].startswith("registration error: HTTP GET")
    assert events[1].startswith("failed: the BMC refused the credentials; correct")


def test_errors_that_may_pass_end_the_wait_at_their_limit():
    seen = history(error_limit=2)
    seen.update(bmh("registering", error=(*UNREACHABLE, 1)), 10)
    assert seen.waiting and "does not answer" in seen.verdict.cause
    seen.update(bmh("registering"), 20)
    assert seen.waiting and not seen.verdict.cause
    seen.update(bmh("registering", error=(*UNREACHABLE, 2)), 30)
    assert seen.verdict.outcome == host_goals.FAILED


def test_an_error_is_reported_once():
    seen = history()
    assert len(seen.update(bmh("registering", error=(*UNREACHABLE, 1)), 10)) == 1
    assert seen.update(bmh("registering", error=(*UNREACHABLE, 1)), 11) == []
    assert len(seen.update(bmh("registering", error=(*UNREACHABLE, 2)), 12)) == 1


def test_an_error_from_before_counts_only_when_it_comes_again_or_stays():
    old = bmh("registering", error=(*REFUSED, 4))
    seen = history(baseline=old)
    assert seen.update(old, 1) == [] and seen.waiting
    assert "from before this run" in seen.verdict.cause
    seen.update(bmh("registering", error=(*REFUSED, 5)), 2)
    assert seen.waiting, "BMO may have repeated the old error"
    seen.update(bmh("registering", error=(*REFUSED, 6)), 3)
    assert seen.verdict.outcome == host_goals.FAILED

    patient = history(baseline=old, patience_seconds=180)
    patient.update(old, 179)
    assert patient.waiting
    patient.update(old, 181)
    assert patient.verdict.outcome == host_goals.FAILED
    assert "action retry" in patient.verdict.next_step


def test_a_cured_error_does_not_excuse_the_next_one():
    seen = history(baseline=bmh("registering", error=(*REFUSED, 4)))
    seen.update(bmh("registering"), 1)
    seen.update(bmh("registering", error=(
        "registration error", "Resource https://b/redfish/v1/Systems/9 not found", 1)), 2)
    assert seen.verdict.outcome == host_goals.FAILED


def tried_again(state, count):
    """Return a host on which BMO tries again: the error is gone, its count is not (``clearError``)."""
    found = bmh(state)
    found["status"]["errorCount"] = count
    return found


@pytest.mark.parametrize("baseline", [bmh("registering", error=(*UNREACHABLE, 3)), tried_again("registering", 3)])
def test_errors_from_before_the_wait_do_not_count_when_bmo_tries_again(baseline):
    """Its count goes on, so that the first error of the wait was taken for the fourth."""
    seen = history(baseline=baseline, error_limit=2)
    seen.update(tried_again("registering", 3), 1)
    seen.update(bmh("registering", error=(*UNREACHABLE, 4)), 2)
    assert seen.waiting and "from before" not in seen.verdict.cause
    seen.update(tried_again("registering", 4), 3)
    assert seen.waiting
    seen.update(bmh("registering", error=(*UNREACHABLE, 5)), 4)
    assert seen.verdict.outcome == host_goals.FAILED


def test_a_step_that_is_done_takes_its_errors_along():
    seen = history(baseline=bmh("registering", error=(*UNREACHABLE, 3)), error_limit=2)
    seen.update(tried_again("inspecting", 0), 1)
    seen.update(bmh("inspecting", error=("inspection error", "x", 1)), 2)
    assert seen.waiting
    seen.update(bmh("inspecting", error=("inspection error", "x", 2)), 3)
    assert seen.verdict.outcome == host_goals.FAILED


def test_a_definitive_error_that_comes_again_after_an_attempt_ends_the_wait():
    seen = history(baseline=bmh("registering", error=(*REFUSED, 4)))
    seen.update(tried_again("registering", 4), 1)
    seen.update(bmh("registering", error=(*REFUSED, 5)), 2)
    assert seen.verdict.outcome == host_goals.FAILED


def test_error_counts_outlive_recovery():
    recovered = bmh("available")
    recovered["status"]["errorCount"] = 3
    seen = history()
    seen.update(recovered, 1)
    assert seen.verdict.outcome == host_goals.REACHED


@pytest.mark.parametrize("obj, goal, cause", [
    (bmh("registering", metadata={"annotations": {"baremetalhost.metal3.io/paused": "metal3.io/capm3"}}), "available",
     "paused by metal3.io/capm3"),
    (bmh("registering", metadata={"annotations": {"baremetalhost.metal3.io/paused": ""}}), "available", "is paused,"),
    (bmh("inspecting", metadata={"deletionTimestamp": "t"}), "available", "being deleted"),
    (bmh("preparing", status="detached"), "available", "detached"),
    (bmh("unmanaged", spec={"bmc": {}}), "registered", "no BMC address"),
    (bmh("available", spec=dict(IMAGE, online=False)), "provisioned", "online is false"),
])
def test_what_can_not_get_there(obj, goal, cause):
    seen = history(goal)
    seen.update(obj, 1)
    assert seen.verdict.outcome == host_goals.FAILED
    assert cause in seen.verdict.cause and seen.verdict.next_step


def test_reaching_the_goal_goes_before_what_would_stop_it():
    seen = history()
    seen.update(bmh("available", metadata={"annotations": {"baremetalhost.metal3.io/paused": ""}}), 1)
    assert seen.verdict.outcome == host_goals.REACHED


def test_a_host_that_vanishes():
    seen = history()
    seen.update(bmh("inspecting"), 1)
    seen.update(None, 2)
    assert seen.verdict.outcome == host_goals.FAILED and "deleted by somebody else" in seen.verdict.cause
    gone = history("deleted", baseline=bmh("available"))
    gone.update(bmh("deleting", metadata={"deletionTimestamp": "t"}), 1)
    assert gone.waiting
    gone.update(None, 2)
    assert gone.verdict.outcome == host_goals.REACHED


@pytest.mark.parametrize("annotations, outcome", [
    ({"baremetalhost.metal3.io/detached": ""}, host_goals.WAITING),
    ({"baremetalhost.metal3.io/detached": '{"deleteAction":"delete"}'}, host_goals.WAITING),
    ({"baremetalhost.metal3.io/detached": '{"deleteAction":"delay"}'}, host_goals.FAILED),
    ({}, host_goals.FAILED),
])
def test_a_detached_host_is_deleted_unless_that_is_delayed(annotations, outcome):
    seen = history("deleted", baseline=bmh("available"))
    seen.update(bmh("available", status="detached", metadata={"annotations": annotations, "deletionTimestamp": "t"}), 1)
    assert seen.verdict.outcome == outcome


def test_a_delayed_host_waits():
    seen = history("provisioned")
    seen.update(bmh("available", status="delayed", spec=IMAGE), 1)
    assert seen.waiting and "PROVISIONING_LIMIT" in seen.verdict.cause


@pytest.mark.parametrize("fields", [
    {"status": "servicing"}, {"error": ("servicing error", "Firmware update failed", 1)}])
def test_a_host_whose_service_has_failed_is_not_deprovisioned_by_itself(fields):
    seen = history("available")
    seen.update(bmh("deprovisioning", **fields), 1)
    assert seen.waiting and "for ever when that has failed" in seen.verdict.cause
    assert "maintenance_off and abort" in seen.error(900, 900)


def test_a_host_whose_firmware_is_changed_says_so():
    waits = host_goals.HostHistory("rebooted", bmh("provisioned"), 0, is_reached=lambda bmh: False)
    waits.update(bmh("provisioned", status="servicing"), 1)
    assert waits.waiting and waits.verdict.cause == "Ironic changes its firmware"


def test_the_line_about_a_wait():
    histories = dict((name, history()) for name in ("a", "b", "c", "d"))
    histories["a"].update(bmh("available"), 1)
    histories["b"].update(bmh("registering", error=(*REFUSED, 1)), 1)
    histories["c"].update(bmh("inspecting"), 10)
    histories["d"].update(bmh("registering"), 5)
    assert status_texts(histories, 20) == (
        "1/4 available, 1 failed, 1 inspecting, 1 registering", "longest: d registering 15 s, c inspecting 10 s")


def test_a_timeout_tells_the_last_state_and_error():
    seen = history()
    seen.update(bmh("inspecting", error=("inspection error", "timeout reached while inspecting the node", 1)), 10)
    assert seen.timeout_cause(40) == (
        "still inspecting after 30 s; last error: inspection error: timeout reached while inspecting the node")


def _raid_error(text):
    """Return Ironic's words for a clean step that has failed so."""
    return ("Node 11111111-2222-3333-4444-555555555555 failed step {'interface': 'raid', 'step': "
            "'create_configuration', 'abortable': False, 'priority': 0}: " + text)


AGENT = ("Image provisioning failed: Connection to agent failed: Failed to connect to the agent running on node u for "
         "invoking command standby.prepare_image. Error: ")


@pytest.mark.parametrize("error_type, message, cause, definitive", [
    ("registration error", "BMC CredentialsName secret doesn't exist secret \"x\" not found", "does not exist", True),
    ("registration error", "Validation error with BMC credentials: Missing BMC connection details 'password'",
     "lacks username or password", True),
    ("registration error", "Unknown BMC type 'foo' for address foo://x", "does not know the scheme", True),
    ("registration error", "MAC address 00:11:22:33:44:55 conflicts with existing node metal3~a", "boot MAC", True),
    (*REFUSED, "refused the credentials", True),
    ("registration error", "Resource https://b/redfish/v1/Systems/9 not found", "no system at the path", True),
    ("registration error", "SSLError(SSLCertVerificationError(1, 'certificate verify failed: self-signed'))",
     "certificate is not trusted", True),
    ("inspection error", "Failed to inspect hardware. Reason: unable to start inspection: Virtual media mount failed "
     "for node u with image https://192.0.2.1/boot-u.iso. Error: HTTP POST https://b/InsertMedia returned code 500. "
     "Failed fetching image from URL https://192.0.2.1/boot-u.iso: Max retries exceeded (Caused by "
     "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed')))",
     "the BMC does not trust", True),
    ("inspection error", "Failed to inspect hardware. Reason: unable to start inspection: The redfish-virtual-media "
     "boot interface is not suitable for node u with vendor Dell Inc. and BMC version 2.0",
     "server of this vendor", True),
    (*UNREACHABLE, "does not answer", False),
    ("registration error", "HTTP GET https://b/redfish/v1/ returned code 503. busy", "does not answer", False),
    ("inspection error", "timeout reached while inspecting the node", "never reported", False),
    ("inspection error", "Timeout reached while inspecting the node. Please check if the ramdisk responsible for the "
     "inspection is running on the node.", "never reported", False),
    ("provisioning error", "Image provisioning failed: Timeout reached while waiting for callback for node u",
     "stopped calling", False),
    ("preparation error", "Timeout reached while cleaning the node. Please check if the ramdisk responsible for the "
     "cleaning is running on the node. Failed on step {'interface': 'raid', 'step': 'create_configuration'}.",
     "stopped calling", False),
    ("servicing error", "Timeout reached while servicing the node. Please check if the ramdisk responsible for the "
     "servicing is running on the node. Failed on step {'interface': 'bios', 'step': 'apply_configuration'}.",
     "stopped calling", False),
    ("provisioning error", AGENT + "HTTPSConnectionPool(host='192.0.2.50', port=9999): Max retries exceeded with url: "
     "/v1/commands/ (Caused by NewConnectionError('Failed to establish a new connection: [Errno 113] No route to "
     "host'))", "does not reach the agent", False),
    ("preparation error", AGENT + "HTTPSConnectionPool(host='192.0.2.50', port=9999): Max retries exceeded with url: "
     "/v1/commands/ (Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate "
     "verify failed: certificate is not yet valid')))", "clocks of the server and of Ironic's machine differ", False),
    ("registration error", "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify "
     "failed: certificate is not yet valid'))", "not valid yet", True),
    *(("inspection error", "Failed to inspect hardware. Reason: unable to start inspection: Redfish exception occurred."
       f" Error: Setting boot mode to uefi failed for node u. Error: HTTP PATCH https://b/redfish/v1/Systems/1 {text}",
       cause, definitive) for text, cause, definitive in (
           ("returned code 500. Base.1.0.GeneralError: no", "did not set the boot mode", False),
           ("returned code 401. Base.1.0.GeneralError: no", "refused the credentials", True),
           ("returned code 503. busy", "does not answer", False))),
    ("provisioning error", "Image provisioning failed: Redfish exception occurred. Error: Failed to set secure boot "
     "state on node u to True: HTTP PATCH https://b/redfish/v1/Systems/1/SecureBoot returned code 400. no",
     "did not set secure boot", False),
    ("provisioning error", "Image provisioning failed: Agent returned error for deploy step write_image: Error "
     "verifying image checksum: Image failed to verify against checksum.", "checksum", True),
    ("provisioning error", "Image provisioning failed: No suitable device was found for deployment", "no disk", True),
    ("provisioning error", WRITING + "Download of image i failed: Unable to write image to device /dev/sda. Error: "
     "[Errno 5] Input/output error", "could not be written", False),
    ("provisioning error", WRITING + "Writing image to device /dev/sda failed with exit code 1. stdout: . stderr: "
     "qemu-img: error while writing: Input/output error", "could not be written", False),
    ("provisioning error", WRITING + "Download of image i failed: Unable to write image to device /dev/sda. Error: "
     "[Errno 30] Read-only file system", "write-protected", True),
    ("preparation error", "Clean step erase_devices failed: Failed to invoke erase of device /dev/sda as the device is "
     "flagged read-only, and the conductor has not signaled this is a permitted case.", "write-protected", True),
    ("provisioning error", WRITING + "Download of image i failed: Unable to write image to device /dev/sda. Error: "
     "[Errno 28] No space left on device", "does not fit on the root device", True),
    ("provisioning error", "Cleaning failed: Failed to prepare node 02b5 for cleaning: Creating iso image failed: "
     "[Errno 2] No such file or directory: '/usr/lib/syslinux/isolinux.bin'", "Ironic has no isolinux", False),
    ("inspection error", "Failed to inspect hardware. Reason: unable to start inspection: [Errno 28] No space left on "
     "device: '/var/tmp/tmp3/boot.iso' -> '/shared/html/redfish/boot-u.iso'", "Ironic has no space left", False),
    ("provisioning error", WRITING + "Download of image i failed: Unable to write image to device /dev/sda. Error: "
     "HTTPSConnectionPool(host='192.0.2.1', port=443): Max retries exceeded (Caused by Connection refused)",
     "can't be downloaded", False),
    ("provisioning error", "Image provisioning failed: Error booting node u after deploy. PowerStateFailure: Failed to "
     "set node power state to power on.", "power state", False),
    ("preparation error", "Cleaning failed: something", "cleaning", False),
    ("power management error", "PowerOn operation failed: x", "power state", False),
    ("servicing error", "strange", "servicing failed", False),
    ("", "strange", "the host is in error", False),
    ("provisioning error", "Failed to prepare to deploy: Validation of image href https://192.0.2.1/node.raw failed, "
     "reason: Got HTTP code 404 instead of 200 in response to HEAD request.", "does not give out the image", True),
    ("provisioning error", "Received status code 403 from https://192.0.2.1/node.raw, expected 200",
     "does not give out the image", True),
    ("provisioning error", "Validation of image href https://192.0.2.1/node.raw failed, reason: timed out",
     "can't be downloaded", False),
    ("preparation error", "Redfish exception occurred. Error: Resource https://b/redfish/v1/TaskService/Tasks/JID_1 "
     "not found", "does not have what Ironic asked it for", False),
    ("inspection error", INSPECTING + "Resource https://b/redfish/v1/Systems/1/VirtualMedia not found",
     "does not have what Ironic asked it for", False),
    ("registration error", "Failed to get power state for node u. Error: Redfish exception occurred. Error: The "
     "attribute Boot is missing from the resource /redfish/v1/Managers/1", "no system at the path", True),
    ("inspection error", MOUNTING + "HTTP POST https://b/InsertMedia returned code 500. Base.1.0.GeneralError: Failed "
     "fetching image from URL http://192.0.2.1/boot-u.iso: HTTPConnectionPool(host='192.0.2.1', port=80): Max retries "
     "exceeded with url: /boot-u.iso (Caused by NewConnectionError('Connection refused'))",
     "the BMC did not take the boot image", False),
    ("inspection error", MOUNTING + "Inserting virtual media into cd failed for node u, moving to next virtual media "
     "device, if available. HTTP POST https://b/InsertMedia returned code 400. IDRAC.2.8.RAC0720: Unable to locate the "
     "ISO or IMG image file or folder in the network share location because the file or folder path or the user "
     "credentials entered are incorrect.", "the BMC did not take the boot image", False),
    ("inspection error", INSPECTING + "No suitable virtual media device found for node u to mount image "
     "https://192.0.2.1/boot-u.iso", "no virtual CD", False),
    *(("inspection error", INSPECTING + "HTTP POST https://b/InsertMedia returned code 403. " + text,
       "lacks a license", True) for text in (
           "iLO.2.14.LicenseKeyRequired: A license key is required to use this operation or feature.",
           "Base.v1_4_0.OemLicenseNotPassed: Not licensed to perform this request. The following licenses SUM DCMS OOB "
           "were needed")),
    ("inspection error", INSPECTING + "HTTP POST https://b/InsertMedia returned code 403. "
     "Base.1.8.InsufficientPrivilege: no", "refused the credentials", True),
    ("registration error", "failed to read preprovisioningNetworkData", "preprovisioning network data", True),
    # From BMO 0.14 on with the API server's words behind it.
    ("registration error", "failed to read preprovisioningNetworkData: secrets \"n\" not found",
     "preprovisioning network data", True),
    *(("registration error", text, "no deploy ramdisk", False) for text in (
        "Preprovisioning Image is not acceptable to provisioner",
        "no acceptable formats for preprovisioning image")),
    ("registration error", "current ironic version does not support DisablePowerOff, refusing to manage node",
     "this Ironic", True),
    ("provisioning error", "auth secret \"pull\" not found in namespace \"metal3\"", "does not exist", True),
    ("provisioning error", "Image provisioning failed: Failed to prepare to deploy: Memory size is too small for "
     "requested image, if it is less than (image size + reserved RAM size), will break the IPA deployments. Image "
     "size: 5000 MiB, Memory size: 4096 MiB, Reserved size: 0 MiB.", "the server's memory", True),
    *(("provisioning error", "Image provisioning failed: Failed to prepare to deploy: " + text,
       "Ironic has no space left", False) for text in (
           "Disk volume where '/shared/html/master_images' is located doesn't have enough disk space. Required 5000 "
           "MiB, only 100 MiB available space present.",
           "Failed to download image https://192.0.2.1/i, reason: [Errno 28] No space left on device.")),
    # The step's own name is no write that failed.
    ("provisioning error", WRITING + "Agent is busy: executing command deploy.execute_deploy_step",
     "deploying or removing the image failed", False),
    *(("provisioning error", "Image provisioning failed: " + text, "not of the given format", True) for text in (
        "Failed to prepare to deploy: The requested image is not valid for use.",
        "Deploy step deploy.write_image failed on node u. Security: Expected format was raw, but image was actually "
        "qcow2",
        "Deploy step deploy.write_image failed on node u. Security: Image failed safety check")),
    ("provisioning error", WRITING + "Unable to find a valid partition table on the disk after writing the image. The "
     "image may be corrupted or it uses a different sector size than the device. Error: x", "sector size", True),
    # As BMO 0.14 has it.
    ("provisioning error", "Image provisioning failed (url: http://192.0.2.1/i, checksum: http://192.0.2.1/i.sha256): "
     "Timeout reached while waiting for callback for node u", "stopped calling", False),
    ("provisioning error", "Image provisioning failed (url: http://192.0.2.1/i, checksum: abc): strange",
     "deploying or removing the image failed", False),
    ("preparation error", "Clean step deploy.erase_devices_metadata failed on node u. Failed to erase the metadata on "
     "the device(s): \"/dev/sda\": wipefs: Device or resource busy", "cleaning the disks failed", False),
    ("preparation error", "Clean step raid.create_configuration failed on node u. Failed to create md device /dev/md0",
     "RAID volumes could not be made", False),
    *(("preparation error", _raid_error(text), cause, definitive) for text, cause, definitive in (
        ("Redfish exception occurred. Error: failed to find matching physical disks for all logical disks",
         "do not fit the server's drives", True),
        ("min() arg is an empty sequence", "do not fit the server's drives", True),
        ("Redfish exception occurred. Error: HTTP POST https://192.0.2.1/redfish/v1/Systems/1/Storage/RAID.1/Volumes "
         "returned code 400. Base.1.0.GeneralError: volume refused", "the RAID controller refused a volume", True),
        ("Redfish exception occurred. Error: HTTP POST https://192.0.2.1/redfish/v1/Systems/1/Storage/RAID.1/Volumes "
         "returned code 401. Base.1.0.GeneralError: no", "refused the credentials", True),
        ("Redfish exception occurred. Error: HTTP POST https://192.0.2.1/redfish/v1/Systems/1/Storage/RAID.1/Volumes "
         "returned code 500. Base.1.0.GeneralError: no", "could not be made or deleted", False))),
])
def test_errors_are_explained(error_type, message, cause, definitive):
    explanation = host_errors.explain(error_type, message)
    assert cause in explanation.cause
    assert explanation.definitive is definitive
    assert explanation.next_step


def test_a_deployed_host_is_not_to_get_another_image():
    """Of a live image that Ironic adopts again: by another image.url BMO erases the host, which works."""
    message = ("Host adoption failed: Error while attempting to adopt node u: Validation of image href "
               "https://192.0.2.1/live.iso failed, reason: Got HTTP code 404 instead of 200 in response to HEAD "
               "request..")
    adopted = host_errors.explain("provisioned registration error", message)
    assert adopted.cause == host_errors.explain("provisioning error", message).cause
    assert "correct image.url" not in adopted.next_step and "as it did" in adopted.next_step
    refused = host_errors.explain("provisioned registration error", REFUSED[1])
    assert refused == host_errors.explain(*REFUSED)


DETAILS = {
    "cpu": {"count": 8, "model": "A CPU", "arch": "x86_64"}, "ramMebibytes": 16384, "hostname": "h1",
    "storage": [{"name": "/dev/sda", "sizeBytes": 480 * 10 ** 9, "serialNumber": "S1", "type": "SSD"},
                {"name": "/dev/sdb", "sizeBytes": 480 * 10 ** 9, "rotational": True},
                {"name": "/dev/sdc", "sizeBytes": 4000 * 10 ** 9}],
    "nics": [{"name": "eth0", "mac": "m0", "ip": "192.0.2.1"}, {"name": "eth0", "mac": "m0", "ip": "2001:db8::1"},
             {"name": "eth1", "mac": "m1"}],
    "systemVendor": {"manufacturer": "V", "productName": "P", "serialNumber": "42"}}


def test_the_table_is_aligned():
    known = bmh("available", spec={"bootMACAddress": "00:5c:52:31:3a:01"})
    known["status"].update(hardware=DETAILS, poweredOn=True)
    lines = host_table.table([
        dict(host_table.summary(known), seconds=61.4),
        host_table.summary(bmh("registering", error=(*REFUSED, 1), metadata={"name": "a-long-name"}))])
    assert lines == [
        "NAME         STATE                POWER  CPU  RAM     DISKS              NICS  BOOT MAC           "
        "BMC               TIME",
        "h1           available            on     8    16 GiB  2x480 GB, 4000 GB  2     00:5c:52:31:3a:01  "
        "ipmi://192.0.2.1  1 min 1 s",
        "a-long-name  registering (error)  -      -    -       -                  -     -                  "
        "ipmi://192.0.2.1  -"]


@pytest.mark.parametrize("state, operational, metadata, powered, cells", [
    ("available", "OK", {}, False, ("available", "off")), ("available", "OK", {}, True, ("available", "on")),
    (None, "", {}, False, ("new", "-")), ("unmanaged", "discovered", {}, False, ("unmanaged", "-")),
    ("registering", "delayed", {}, False, ("registering (delayed)", "-")),
    ("inspecting", "OK", {}, True, ("inspecting", "on")),
    ("provisioned", "detached", {}, True, ("provisioned (detached)", "on")),
    ("available", "OK", {"annotations": {"baremetalhost.metal3.io/paused": ""}}, False, ("available (paused)", "off")),
    ("provisioned", "OK", {"deletionTimestamp": "2026-01-01T00:00:00Z"}, True, ("provisioned (deleting)", "on")),
    ("deleting", "OK", {"deletionTimestamp": "2026-01-01T00:00:00Z"}, False, ("deleting", "off")),
    ("available", "detached", {"annotations": {"baremetalhost.metal3.io/paused": ""},
                               "deletionTimestamp": "2026-01-01T00:00:00Z"}, False,
     ("available (detached, paused, deleting)", "off")),
])
def test_the_table_says_what_a_state_alone_hides(state, operational, metadata, powered, cells):
    status = {"operationalStatus": operational, "poweredOn": powered, "provisioning": {"state": state} if state else {}}
    cell = host_table.row(host_table.summary({"metadata": dict({"name": "h1"}, **metadata), "status": status}))
    assert (cell["state"], cell["power"]) == cells


def test_the_power_of_a_host_that_is_gone_is_not_known():
    assert host_table.row(host_table.absent("h1", "metal3"))["power"] == "-"


def test_hardware_is_plain_data():
    facts = host_table.hardware(DETAILS)
    assert [disk["type"] for disk in facts["disks"]] == ["SSD", "HDD", ""]
    assert facts["cpu"] == {"count": 8, "model": "A CPU", "architecture": "x86_64"}
    assert host_table.hardware({}) == {}


def test_the_table_fits_the_terminal():
    long = summary_of("redfish-virtualmedia+https://198.18.0.1:8000/redfish/v1/Systems/8cec5174-b541-5ad1")
    lines = host_table.table([long], 120)
    assert max(map(len, lines)) <= 120 and "redfish-virtual...c5174-b541-5ad1" in lines[1]
    lines = host_table.table([long], 80)
    assert max(map(len, lines)) <= 80 and "BMC" not in lines[0] and "BOOT MAC" in lines[0]


def summary_of(address):
    known = bmh("available", spec={"bootMACAddress": "00:5c:52:31:3a:01", "bmc": {"address": address}})
    known["status"].update(hardware=DETAILS, poweredOn=True)
    return host_table.summary(known)


def test_volumes_that_nobody_has_looked_at_are_the_cause():
    seen = history(baseline=bmh("available"))
    seen.update(bmh("available", spec={"raid": PAIR}), 1)
    assert "BMO has yet to begin with the RAID volumes" in seen.timeout_cause(5)
    seen.update(bmh("preparing", spec={"raid": PAIR}), 6)
    seen.update(bmh("available", spec={"raid": PAIR}, raid=PAIR), 60)
    assert seen.verdict.outcome == host_goals.REACHED
