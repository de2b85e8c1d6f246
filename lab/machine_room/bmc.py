"""The BMCs: sushy-tools with a systems driver whose systems are the machine room's servers.

The fake driver of sushy-tools keeps its own copies of the systems, waits 1 to 11 s at random before a power change and
reports it in a request to another process. In one process the servers themselves are the systems: a change is
there when the BMC has answered.
"""
from __future__ import annotations

import json
import tempfile

import flask
from sushy_tools import error
from sushy_tools.emulator import main as emulator
from sushy_tools.emulator.resources.systems import fakedriver

from . import (
    account_service,
    bios,
    event_service,
    network_adapters,
    redfish,
    storage_service,
    task_service,
    update_service,
)
from .server import BY_HTTP, OFF, ON, RESET_TYPES

# As Dell's BMCs say it; Ironic looks for the first word.
DELL = "Dell Inc."
POWER_EVENTS = {ON: "ResourceEvent.1.0.ResourcePoweredOn", OFF: "ResourceEvent.1.0.ResourcePoweredOff"}


class MachineRoomDriver(fakedriver.FakeDriver):
    """Systems driver of sushy-tools.

    :param servers: list of Servers
    """

    def __init__(self, servers):
        self._servers = {server.uuid: server for server in servers}
        self._names = {server.name: server.uuid for server in servers}

    @property
    def driver(self):
        return "<machine room>"

    @property
    def systems(self):
        return list(self._servers)

    def _server(self, identity):
        if identity in self._servers:
            return self._servers[identity]
        if identity in self._names:
            raise error.AliasAccessError(self._names[identity])
        raise error.NotFound(f"System {identity} was not found")

    def uuid(self, identity):
        return self._server(identity).uuid

    def name(self, identity):
        return self._server(identity).name

    def get_power_state(self, identity):
        return self._server(identity).power

    def set_power_state(self, identity, state):
        if state not in RESET_TYPES:
            raise error.BadRequest(f"ResetType {state} is not supported")
        self._server(identity).reset(state)

    def get_boot_device(self, identity):
        return self._server(identity).boot_device

    def set_boot_device(self, identity, boot_source):
        server = self._server(identity)
        # sushy-tools puts the image into the CD drive and asks for that, which is what simulated firmware reads.
        boot = flask.request.json.get("Boot") or {}
        by_http = server.boots_by_http and boot.get("BootSourceOverrideTarget") == BY_HTTP
        server.set_boot_device(BY_HTTP if by_http else boot_source, boot.get("BootSourceOverrideEnabled"))

    def get_boot_mode(self, identity):
        return self._server(identity).boot_mode

    def set_boot_mode(self, identity, boot_mode):
        self._server(identity).configure(boot_mode=boot_mode)

    def get_secure_boot(self, identity):
        return self._server(identity).secure_boot

    def set_secure_boot(self, identity, secure):
        self._server(identity).configure(secure_boot=bool(secure))

    def get_boot_image(self, identity, device):
        path = self._server(identity).boot_images.get(device)
        return path, bool(path), bool(path)

    def set_boot_image(self, identity, device, boot_image=None, write_protected=True):
        server = self._server(identity)
        server.configure(boot_images=dict(server.boot_images, **{device: boot_image}))

    def get_http_boot_uri(self, identity):
        return self._server(identity).http_boot_uri

    def set_http_boot_uri(self, uri):
        # sushy-tools doesn't say whose it is.
        self._server(flask.request.view_args["identity"]).configure(http_boot_uri=uri)

    def get_total_memory(self, identity):
        return self._server(identity).spec["memory_mib"] // 1024

    def get_total_cpus(self, identity):
        return self._server(identity).spec["cpus"]

    def get_processors(self, identity):
        spec = self._server(identity).spec
        return [{"id": "CPU0", "socket": "CPU 0", "vendor": spec["vendor"], "model": spec["cpu_model"],
                 "cores": str(spec["cpus"]), "threads": str(spec["cpus"])}]

    def get_versions(self, identity):
        return {"BiosVersion": self._server(identity).firmware["bios"]}

    def get_bios(self, identity):
        # sushy-tools asks the same for the settings that count and for those that wait for the next boot.
        return bios.attributes(self._server(identity), flask.request.endpoint == "bios_settings")

    def set_bios(self, identity, attributes):
        server = self._server(identity)
        known = json.loads(flask.render_template("bios_registry.json"))
        try:
            bios.check(bios.registry(known)["RegistryEntries"]["Attributes"], attributes)
        except bios.BiosError as fault:
            raise error.BadRequest(f"BIOS settings refused: {fault}") from fault
        server.configure(bios_pending=dict(server.bios_pending, **attributes))

    def reset_bios(self, identity):
        self._server(identity).configure(bios_pending=dict(bios.DEFAULTS))

    def get_nics(self, identity):
        return [{"id": nic["name"], "mac": nic["mac"]} for nic in self._server(identity).spec["nics"]]

    def firmware(self, system):
        """Return the versions of a system's firmware by component."""
        return self._server(system).firmware

    def identity(self, system):
        """Return what sushy-tools' template of a system has no place for, as a mapping of Redfish properties."""
        server = self._server(system)
        spec = server.spec
        return {"Manufacturer": DELL if server.knobs.get("made_by_dell") else spec["vendor"],
                "Model": spec["model"], "SerialNumber": spec["serial"], "HostName": spec["name"],
                "PartNumber": "SIM-1", "SKU": "SIM-1"}

    def boot(self, system, found):
        """Return a system's Boot; in sushy-tools' template each boot device is for all boots."""
        return dict(found, BootSourceOverrideEnabled=self._server(system).boot_override)

    def boot_progress(self, system):
        """Return a system's BootProgress."""
        return {"LastState": self._server(system).boot_progress}


def application(servers, settings):
    """Return the Flask application of sushy-tools, set up for the servers.

    :param servers: list of Servers
    :param settings: the machine room's Settings
    """
    app = emulator.app
    # sushy-tools downloads virtual media to the default folder for temporary files.
    tempfile.tempdir = settings.redfish_dir
    app.configure(extra_config={
        "SUSHY_EMULATOR_STATE_DIR": settings.redfish_dir,
        "SUSHY_EMULATOR_FEATURE_SET": "full",
        # A BMC with the site's CA installed.
        "SUSHY_EMULATOR_VMEDIA_VERIFY_SSL": settings.ca_file,
        "SUSHY_EMULATOR_STORAGE": {server.uuid: storage_service.storages(server) for server in servers},
        "SUSHY_EMULATOR_DRIVES": {(server.uuid, storage_service.CONTROLLER): storage_service.drives(server)
                                  for server in servers},
    })
    driver = MachineRoomDriver(servers)
    # sushy-tools chooses among its own drivers only.
    emulator.Application.systems = driver

    app.view_functions["UpdateService.update_service_simple_update"] = update_service.simple_update
    # In the place of sushy-tools' only task.
    app.view_functions["simple_task"] = lambda: task_service.task_resource("42")
    for blueprint in (update_service.service, event_service.service, account_service.service, task_service.service,
                      network_adapters.service):
        app.register_blueprint(blueprint)
    storage_service.replace(app)
    for server in servers:
        server.on_power_change = _report_power

    @app.after_request
    def complete(response):
        if flask.request.method == "GET" and response.status_code == 200:
            addition = ADDITIONS.get(flask.request.endpoint)
            if addition:
                found = json.loads(response.get_data())
                response.set_data(json.dumps(addition(driver, found)))
        return response

    return app


def _report_power(server):
    text = f"The server was switched {server.power.lower()}."
    event_service.send(server, "Alert", POWER_EVENTS[server.power], text)


def _complete_system(driver, found):
    system = found["UUID"]
    return dict(found, Boot=driver.boot(system, found["Boot"]), BootProgress=driver.boot_progress(system),
                **driver.identity(system))


def _complete_manager(driver, found):
    # The managers of sushy-tools carry the identity of their system.
    return dict(found, FirmwareVersion=driver.firmware(found["UUID"])["bmc"])


def _complete_chassis(_driver, found):
    return network_adapters.complete_chassis(redfish.asked(), found)


def _complete_root(_driver, found):
    return dict(found, EventService={"@odata.id": event_service.ROOT}, Tasks={"@odata.id": "/redfish/v1/TaskService"},
                AccountService={"@odata.id": account_service.ROOT})


def _complete_registry(_driver, found):
    return bios.registry(found)


def _complete_storage(_driver, found):
    return storage_service.complete_storage(found)


def _complete_drive(_driver, found):
    return storage_service.complete_drive(redfish.asked(), found)


# Endpoint of sushy-tools → what its answer lacks.
ADDITIONS = {"system_resource": _complete_system, "manager_resource": _complete_manager,
             "chassis_resource": _complete_chassis,
             "root_resource": _complete_root, "bios_registry": _complete_registry,
             "storage": _complete_storage, "drive_resource": _complete_drive}
