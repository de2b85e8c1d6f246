"""BMCs that speak IPMI 2.0: a UDP port for each server, by pyghmi."""
from __future__ import annotations

import logging
import threading
import uuid

from pyghmi.ipmi import bmc
from pyghmi.ipmi.private import session

from .access_log import IPMI, SESSIONLESS, ipmi_path
from .server import ALWAYS, NEVER, ONCE

LOG = logging.getLogger(__name__)
BOOT_FLAGS = 5
# Bits of the boot flags' first byte: they count, for all boots, of UEFI.
VALID, PERSISTENT, EFI = 0x80, 0x40, 0x20
# The device is in four bits above two others; IPMI's number → Redfish's name.
DEVICE_SHIFT, DEVICE_MASK = 2, 0x0f
DEVICES = {0: "None", 1: "Pxe", 2: "Hdd", 5: "Cd", 6: "BiosSetup", 15: "Floppy"}
NUMBERS = {device: number for number, device in DEVICES.items()}
NODE_BUSY, INVALID_FIELD = 0xc0, 0xcc
POLL_SECONDS = 5
# IPMI 2.0, 22.27 to 22.30: users of a BMC. The first slot is empty.
APPLICATION, GET_USER_ACCESS, GET_USER_NAME, SET_USER_PASSWORD = 6, 0x44, 0x46, 0x47
SLOTS, SLOT = 3, 2
# Link authentication and messages, level ADMINISTRATOR; no access.
MAY_ALL, MAY_NOTHING = 0x34, 0x0f
SLOT_MASK, SET_PASSWORD, NAME_BYTES = 0x3f, 2, 16


class Passwords:
    """What pyghmi asks for the password of a user."""

    def __init__(self, server):
        self._server = server

    def get(self, username):
        """Return the password, or None when there is no such user."""
        if self._server.knobs.get("bmc_unauthorized"):
            # As with a wrong password: the client finds the BMC's answer to be signed with another one.
            return uuid.uuid4().hex
        return self._server.bmc_account.password(username)


class Noting:
    """A session that remembers the completion code of the answer.

    :param session: a ServerSession of pyghmi
    """

    def __init__(self, session):
        self._session = session
        self.code = None

    def __getattr__(self, name):
        return getattr(self._session, name)

    def send_ipmi_response(self, data=(), code=0):
        """Answer a request."""
        self.code = code
        self._session.send_ipmi_response(data=data, code=code)


class Bmc(bmc.Bmc):
    """The BMC of a server.

    :param server: a Server
    :param address: IP address to listen on
    :param port: UDP port
    """

    def __init__(self, server, address, port):
        super().__init__(Passwords(server), port=port, bmcuuid=uuid.UUID(server.uuid), address=address)
        self._server = server

    def sessionless_data(self, data, sockaddr):
        """Answer what begins a session."""
        self._server.access.begin(sockaddr[:2], IPMI, SESSIONLESS).end(None)
        if not self._server.knobs.get("bmc_unreachable"):
            super().sessionless_data(data, sockaddr)

    def handle_raw_request(self, request, session):
        """Answer a request within a session."""
        asked = self._server.access.begin(
            session.sockaddr[:2], IPMI, ipmi_path(request["netfn"], request["command"]))
        noting = Noting(session)
        try:
            self._answer(request, noting)
        finally:
            asked.end(noting.code)

    def _answer(self, request, session):
        if self._server.knobs.get("bmc_unreachable"):
            return
        if self._server.knobs.get("bmc_unavailable"):
            session.send_ipmi_response(code=NODE_BUSY)
            return
        users = {GET_USER_ACCESS: self._user_access, GET_USER_NAME: self._user_name,
                 SET_USER_PASSWORD: self._set_user_password}
        if request["netfn"] == APPLICATION and request["command"] in users:
            code, data = users[request["command"]](bytes(request["data"]))
            session.send_ipmi_response(code=code, data=data)
            return
        super().handle_raw_request(request, session)

    def _user_access(self, data):
        slot = data[1] & SLOT_MASK
        if not 1 <= slot <= SLOTS:
            return INVALID_FIELD, []
        return 0, [SLOTS, 1, 0, MAY_ALL if slot == SLOT else MAY_NOTHING]

    def _user_name(self, data):
        slot = data[0] & SLOT_MASK
        if not 1 <= slot <= SLOTS:
            return INVALID_FIELD, []
        name = self._server.bmc_account.username if slot == SLOT else ""
        return 0, list(name.encode("ascii").ljust(NAME_BYTES, b"\0"))

    def _set_user_password(self, data):
        account = self._server.bmc_account
        wanted = {"Password": data[2:].rstrip(b"\0").decode("ascii", "replace")}
        if data[0] & SLOT_MASK != SLOT or data[1] != SET_PASSWORD or account.refusal("*", wanted):
            return INVALID_FIELD, []
        account.set_password(wanted["Password"])
        self._server.console.print("BMC: the password of the account was replaced by IPMI")
        return 0, []

    def get_system_guid(self):
        """Return the server's UUID."""
        return self.uuid

    def cold_reset(self):
        """Restart the BMC, which keeps all that it knows."""
        return 0

    def get_power_state(self):
        """Return the power state."""
        return self._server.power.lower()

    def _reset(self, reset_type):
        # An answer does not wait until the server is off, and the other BMCs do not wait for this one.
        threading.Thread(target=self._server.reset, args=(reset_type,), daemon=True).start()

    def power_off(self):
        """Cut the power."""
        self._reset("ForceOff")

    def power_on(self):
        """Switch on."""
        self._reset("On")

    def power_cycle(self):
        """Cut the power and switch on again."""
        self._reset("PowerCycle")

    def power_reset(self):
        """Reset."""
        self._reset("ForceRestart")

    def power_shutdown(self):
        """Press the power button."""
        self._reset("GracefulShutdown")

    def get_system_boot_options(self, request, session):
        """Answer what the next boots are from, the only one of the boot options that is known."""
        if request["data"][0] != BOOT_FLAGS:
            super().get_system_boot_options(request, session)
            return
        override = self._server.boot_override
        flags = (0 if override == NEVER else VALID) | (PERSISTENT if override == ALWAYS else 0) | (
            EFI if self._server.boot_mode == "UEFI" else 0)
        device = NUMBERS.get(self._server.boot_device, 0) << DEVICE_SHIFT
        session.send_ipmi_response(data=[1, BOOT_FLAGS, flags, device, 0, 0, 0])

    def set_system_boot_options(self, request, session):
        """Set it."""
        data = request["data"]
        if data[0] != BOOT_FLAGS:
            super().set_system_boot_options(request, session)
            return
        device = DEVICES.get(data[2] >> DEVICE_SHIFT & DEVICE_MASK)
        if device is None:
            session.send_ipmi_response(code=INVALID_FIELD)
            return
        self._server.set_boot_device(device, ALWAYS if data[1] & PERSISTENT else ONCE)
        self._server.configure(boot_mode="UEFI" if data[1] & EFI else "Legacy")
        session.send_ipmi_response()


def serve(servers, addresses):
    """Listen at the ports of the servers that have one, in a thread that ends with the process.

    :param servers: list of Servers
    :param addresses: IP addresses to listen on
    :returns: the number of BMCs
    """
    found = [server for server in servers if server.spec["bmc"]["ipmi_port"]]
    for server in found:
        for address in addresses:
            Bmc(server, address, server.spec["bmc"]["ipmi_port"])
    if found:
        # pyghmi wakes itself by a datagram to its first socket, and takes that for one of IPv6.
        session.myself = addresses[0]
        threading.Thread(target=_listen, daemon=True).start()
    return len(found)


def _listen():
    while True:
        try:
            session.Session.wait_for_rsp(POLL_SECONDS)
        except Exception:
            # A datagram that pyghmi does not expect; the other BMCs go on.
            LOG.exception("IPMI")
