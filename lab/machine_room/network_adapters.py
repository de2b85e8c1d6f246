"""Network cards as the BMCs show them: adapters below the chassis, each with the version of its firmware.

sushy-tools shows the ports as a system's Ethernet interfaces, but no cards and nothing of their firmware.
"""
from __future__ import annotations

import flask

from . import redfish
from .network_cards import cards, serial

COLLECTION = "/redfish/v1/Chassis/<chassis>/NetworkAdapters"

service = flask.Blueprint("MachineRoomNetworkAdapters", __name__)


def complete_chassis(server, found):
    """Return sushy-tools' chassis, which all systems share there, as that of one server, with its cards."""
    manager = [{"@odata.id": f"/redfish/v1/Managers/{server.uuid}"}]
    links = dict(found["Links"], ComputerSystems=[{"@odata.id": f"/redfish/v1/Systems/{server.uuid}"}],
                 ManagedBy=manager, ManagersInChassis=manager)
    return dict(found, Links=links, NetworkAdapters={"@odata.id": found["@odata.id"] + "/NetworkAdapters"})


def resource(server, path, identity):
    """Return a card as Redfish shows it.

    :param path: of the collection that it is in
    """
    nic = cards(server.spec)[identity]
    known = {"SerialNumber": serial(nic)} if serial(nic) else {}
    return {
        "@odata.type": "#NetworkAdapter.v1_3_0.NetworkAdapter", "@odata.id": f"{path}/{identity}",
        "Id": identity, "Name": nic["name"], "Manufacturer": nic["vendor"], "Model": nic["product"], **known,
        "Status": {"State": "Enabled", "Health": "OK"},
        "Controllers": [{"FirmwarePackageVersion": server.firmware[identity]}],
    }


# Whose chassis it is, BmcAccess has found by the login: it has one address for all systems.


@service.route(COLLECTION)
def adapters(chassis):
    """List the cards."""
    del chassis
    return redfish.collection("Network adapters", flask.request.path, list(cards(redfish.asked().spec)))


@service.route(COLLECTION + "/<identity>")
def adapter(chassis, identity):
    """Show a card."""
    del chassis
    server = redfish.asked()
    if identity not in cards(server.spec):
        return redfish.fault(404, f"no network adapter {identity}")
    return resource(server, flask.request.path.rpartition("/")[0], identity)
