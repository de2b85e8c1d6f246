"""Storage as the BMCs show it: the controller, its drives, and volumes that are made and deleted.

sushy-tools makes volumes of libvirt's pools only, and shows neither their RAID type nor which drives are in them.
"""
from __future__ import annotations

import flask

from . import raid, redfish, task_service
from .raid_controller import CREATE, DELETE

CONTROLLER = "RAID.1"
APPLY_TIME = "@Redfish.OperationApplyTime"
AT_ONCE, AT_BOOT = "Immediate", "OnReset"
VOLUMES = "/redfish/v1/Systems/<identity>/Storage/<storage_id>/Volumes"


def replace(app):
    """Let a Flask application of sushy-tools have these volumes in the place of its own."""
    app.view_functions["volumes_collection"] = volumes
    app.view_functions["volume"] = volume
    app.add_url_rule(VOLUMES + "/<vol_id>", "delete_volume", delete_volume, methods=["DELETE"])


def storages(server):
    """Return a server's storage as sushy-tools' configuration wants it."""
    return [{"Id": CONTROLLER, "Name": "RAID controller",
             "StorageControllers": [{"MemberId": "0", "Name": "RAID controller", "SpeedGbps": 6}],
             "Drives": [drive.spec["serial"] for drive in server.drives]}]


def drives(server):
    """Return a server's drives as sushy-tools' configuration wants them."""
    return [{"Id": drive.spec["serial"], "Name": drive.name, "CapacityBytes": drive.spec["size_gib"] * raid.GIB,
             "Protocol": "SATA", "Volumes": []} for drive in server.drives]


def complete_storage(found):
    """Return sushy-tools' storage with the RAID types of its controller."""
    return dict(found, StorageControllers=[
        dict(controller, SupportedRAIDTypes=list(raid.LEVELS)) for controller in found["StorageControllers"]])


def complete_drive(server, found):
    """Return sushy-tools' drive with what its template has the same for each."""
    spec = next(drive.spec for drive in server.drives if drive.spec["serial"] == found["Id"])
    own = [volume["id"] for volume in server.raid.volumes if found["Id"] in volume["drives"]]
    return dict(found, MediaType="HDD" if spec["rotational"] else "SSD", SerialNumber=spec["serial"],
                Model=spec["model"], Manufacturer=spec["vendor"], RotationSpeedRPM=7200 if spec["rotational"] else 0,
                Links={"Volumes": [{"@odata.id": f"{_root(server)}/Volumes/{number}"} for number in own]})


def collection(server):
    """Return the collection of a server's volumes."""
    found = redfish.collection("Volumes", f"{_root(server)}/Volumes", [known["id"] for known in server.raid.volumes])
    return dict(found, **{"@Redfish.OperationApplyTimeSupport": {
        "@odata.type": "#Settings.v1_3_0.OperationApplyTimeSupport", "SupportedValues": apply_times(server)}})


def resource(server, known):
    """Return a volume as Redfish shows it.

    :param known: one of its RaidController's volumes
    """
    return {
        "@odata.type": "#Volume.v1_6_0.Volume", "@odata.id": f"{_root(server)}/Volumes/{known['id']}",
        "Id": known["id"], "Name": known["name"], "RAIDType": known["raid_type"], "VolumeUsage": "Data",
        "CapacityBytes": known["size_gib"] * raid.GIB, "BlockSizeBytes": 512, "Encrypted": False,
        "Status": {"State": "Enabled", "Health": "OK"},
        "Links": {"Drives": [{"@odata.id": _drive_path(server, serial)} for serial in known["drives"]]},
    }


def apply_times(server):
    """Return when a server's controller can make and delete volumes, as Redfish's OperationApplyTimes."""
    return [AT_BOOT] if server.raid_waits else [AT_ONCE, AT_BOOT]


def create(server, request):
    """Make the volume that a request asks for, or begin a task that does.

    :param request: the request's body
    :returns: as a Flask view does
    """
    with server.lock:
        try:
            at_boot = _waits(server, request)
            planned = raid.planned(
                request, {_drive_path(server, drive.spec["serial"]): drive.spec for drive in server.drives},
                server.raid.taken)
            if not at_boot:
                made = server.raid.create(planned)
                server.console.print("RAID controller: volume %s, %s of %s", made["id"], made["raid_type"],
                                     ", ".join(made["drives"]))
                server.save()
                return resource(server, made), 201, {"Location": f"{_root(server)}/Volumes/{made['id']}"}
        except raid.RaidError as error:
            server.console.print("RAID controller: no volume: %s", error)
            return redfish.fault(400, f"volume refused: {error}")
        return _later(server, f"New volume, {planned['raid_type']}", CREATE, planned)


def delete(server, number, request):
    """Delete a volume, or begin a task that does.

    :param number: the volume's
    :param request: the request's body
    :returns: as a Flask view does
    """
    with server.lock:
        try:
            at_boot = _waits(server, request)
            if at_boot:
                server.raid.volume(number)
                return _later(server, f"Deletion of volume {number}", DELETE, number)
            server.raid.delete(number)
        except raid.RaidError as error:
            return redfish.fault(400, str(error))
        except KeyError:
            return redfish.fault(404, f"no volume {number}")
        server.console.print("RAID controller: volume %s is deleted", number)
        server.save()
        return "", 204


def _waits(server, request):
    """Return whether a request is one for the next boot."""
    known = apply_times(server)
    wanted = request.get(APPLY_TIME, known[0])
    if wanted not in known:
        raise raid.RaidError(f"{APPLY_TIME} {wanted!r}: expected one of {', '.join(known)}")
    return wanted == AT_BOOT


def _later(server, name, operation, subject):
    task = server.new_task(name)
    server.raid.postpone(operation, subject, task)
    server.console.print("RAID controller: %s waits for the next boot", name)
    server.update_task(task, "Pending")
    return "", 202, {"Location": task_service.monitor(task)}


def _root(server):
    return f"/redfish/v1/Systems/{server.uuid}/Storage/{CONTROLLER}"


def _drive_path(server, serial):
    return f"{_root(server)}/Drives/{serial}"


def _body():
    found = flask.request.get_json(silent=True)
    return found if isinstance(found, dict) else {}


# Views; their parameters have sushy-tools' names. Whose they are, BmcAccess has found by the path.


def volumes(identity, storage_id):
    """List the volumes, or make one."""
    del identity
    if storage_id != CONTROLLER:
        return redfish.fault(404, f"no storage {storage_id}")
    return create(redfish.asked(), _body()) if flask.request.method == "POST" else collection(redfish.asked())


def volume(identity, stg_id, vol_id):
    """Show a volume."""
    del identity
    server = redfish.asked()
    try:
        known = server.raid.volume(vol_id)
    except KeyError:
        known = None
    if stg_id != CONTROLLER or known is None:
        return redfish.fault(404, f"no volume {vol_id}")
    return resource(server, known)


def delete_volume(identity, storage_id, vol_id):
    """Delete a volume."""
    del identity
    if storage_id != CONTROLLER:
        return redfish.fault(404, f"no storage {storage_id}")
    return delete(redfish.asked(), vol_id, _body())
