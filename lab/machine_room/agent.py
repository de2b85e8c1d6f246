"""The deploy agent of one boot: it inspects when it was asked to, looks its node up, then sends heartbeats.

A server makes a new one at each boot. It does on Ironic's side what ironic-python-agent does; commands.py has what
Ironic asks of it.
"""
from __future__ import annotations

import random
import threading
import time

from . import hardware
from .commands import Commands
from .ironic_api import IronicApi, continue_inspection
from .root_device import NoDevice, choose
from .web import Unreachable, Web

VERSION = "13.0.0"
MIB = 1024 * 1024
MIN_TOKEN_LENGTH = 32
# Of the kernel command line.
TOKEN_PARAMETER = "ipa-agent-token"
# ironic-python-agent waits 5 s and longer; nothing here takes that long to change.
RETRY_SECONDS = 1
ERROR_RETRY_SECONDS = 5
RETRY_LIMIT_SECONDS = 30
RETRY_FACTOR = 1.5
# Ironic accepts a heartbeat of a node it has locked, but leaves it at that until the next one. A simulated machine is
# done so soon that this is the rule: after each event heartbeats follow closely, then at growing intervals.
HEARTBEAT_FACTOR = 2
# ironic-python-agent's share of Ironic's heartbeat timeout.
HEARTBEAT_SHARE = (0.3, 0.6)
DEFAULT_HEARTBEAT_TIMEOUT_SECONDS = 300
# After so long the BMC reports the agent's system as started: after its first accepted heartbeat, and without one.
STARTED_AFTER_HEARTBEAT_SECONDS = 15
STARTED_WITHOUT_HEARTBEAT_SECONDS = 60


class PoweredOff(Exception):
    """The machine lost its power while the agent was at work."""


class Agent:
    """One running agent.

    :param server: the Server it runs on
    :param parameters: the kernel command line as a mapping
    """

    def __init__(self, server, parameters):
        self.server = server
        self.parameters = parameters
        self.node = None
        self.token = parameters.get(TOKEN_PARAMETER)
        self.heartbeat_timeout = DEFAULT_HEARTBEAT_TIMEOUT_SECONDS
        self.commands = Commands(self)
        # Of the image that it has written, as the real agent names them.
        self.partition_uuids = {}
        self._inspected = False
        self._booted_at = time.monotonic()
        self._accepted_at = None
        self._stopped = threading.Event()
        self._silent = False
        self._wake = threading.Event()

    @classmethod
    def restored(cls, server, saved):
        """Return the agent that ran before the machine room restarted.

        :param saved: what dump() returned
        """
        agent = cls(server, saved["parameters"])
        agent.node = saved["node"]
        agent.token = saved["token"]
        agent.heartbeat_timeout = saved["heartbeat_timeout"]
        agent._inspected = saved["inspected"]
        agent.partition_uuids = saved["partition_uuids"]
        agent.commands.restore(saved["commands"])
        return agent

    def dump(self):
        """Return what restored() needs, as plain data."""
        return {
            "parameters": self.parameters,
            "node": self.node,
            "partition_uuids": self.partition_uuids,
            "token": self.token,
            "heartbeat_timeout": self.heartbeat_timeout,
            "inspected": self._inspected,
            "commands": self.commands.list(),
        }

    @property
    def node_uuid(self):
        """UUID of the node in Ironic, None before the lookup."""
        return self.node["uuid"] if self.node else None

    @property
    def answers(self):
        """Whether the agent's API can be reached."""
        return not self._stopped.is_set() and not self._silent

    @property
    def system_started(self):
        """Whether the BMC reports the agent's system as started.

        Ironic 39 goes on after BIOS settings when it gets a heartbeat or, every few seconds, when the BMC reports the
        system as started. Where its step runs without the agent, it ignores heartbeats and waits for the BMC alone.
        Where it expects the agent, it must not learn of the boot from both in the same moment: it would then skip the
        step that comes next, a firmware update for example. So the BMC's report comes later than the heartbeats on
        which Ironic acts.
        """
        now = time.monotonic()
        if self._accepted_at is not None and now - self._accepted_at >= STARTED_AFTER_HEARTBEAT_SECONDS:
            return True
        return now - self._booted_at >= STARTED_WITHOUT_HEARTBEAT_SECONDS

    def start(self):
        """Run in a thread of its own."""
        threading.Thread(target=self._run, name=f"agent-{self.server.name}", daemon=True).start()

    def stop(self):
        """End; work in progress ends at its next step."""
        self._stopped.set()
        self._wake.set()

    def check_alive(self):
        """Return while the machine has power.

        :raises PoweredOff: when it has not
        """
        if self._stopped.is_set():
            raise PoweredOff(f"{self.server.name} has no power")

    def received(self, byte_count):
        """Take in a part of an image, as slowly as the knob ``slow_download`` says.

        :raises PoweredOff: when the machine has no power
        """
        mib_per_second = self.server.knobs.get("slow_download")
        if mib_per_second:
            self._stopped.wait(byte_count / (mib_per_second * MIB))
        self.check_alive()

    def go_silent(self):
        """Stop answering and calling, as an agent that crashed.

        :raises PoweredOff: always, to leave what was being done
        """
        self.server.console.print("agent: crashed")
        self._silent = True
        raise PoweredOff("the agent crashed")

    def call_soon(self):
        """Send a heartbeat at once: Ironic goes on with the next step when it gets one."""
        self._wake.set()

    def log(self, text, *arguments):
        """Print to the server's console, unless this agent has ended."""
        if not self._stopped.is_set():
            self.server.console.print("agent: " + text, *arguments)

    def _run(self):
        self.log("started")
        if self.server.knobs.get("agent_never_calls_back"):
            self.log("no route to Ironic")
            return
        try:
            if self.parameters.get("ipa-inspection-callback-url") and not self._inspected:
                self._retry(self._inspect)
            ironic = IronicApi(self._web(), self.parameters.get("ipa-api-url", self.server.settings.ironic_url))
            if self.node is None:
                self._retry(lambda: self._lookup(ironic))
            self._heartbeats(ironic)
        except PoweredOff:
            return
        except Exception as error:
            # Without this line in the console nobody could find out why the machine never calls.
            self.log("crashed: %s: %s", type(error).__name__, error)
            raise

    def _web(self):
        """Return the Web by which Ironic is asked."""
        built_in = self.server.knobs.get("agent_authorities")
        return Web(self.server.settings.ca_file or None, built_in) if built_in else self.server.web

    def _retry(self, attempt):
        wait = RETRY_SECONDS
        while not attempt():
            self._stopped.wait(wait)
            self.check_alive()
            wait = min(wait * RETRY_FACTOR, RETRY_LIMIT_SECONDS)

    def _inspect(self):
        inventory = hardware.inventory(self.server)
        data = {
            "inventory": inventory,
            "boot_interface": inventory["boot"]["pxe_interface"],
            "error": None,
            "configuration": {"collectors": ["default", "logs"],
                              "managers": [{"name": "generic_hardware_manager", "version": "1.2"}]},
        }
        try:
            data["root_disk"] = choose(inventory["disks"], None)
        except NoDevice as error:
            self.log("%s", error)
        try:
            answer = continue_inspection(self._web(), self.parameters["ipa-inspection-callback-url"], data)
        except Unreachable as error:
            self.log("inspection: %s", error)
            return False
        if answer.status in (200, 202):
            self.log("inspection data accepted")
            self._inspected = True
            self.server.save()
            return True
        # 404: this machine was faster than Ironic, which doesn't wait for it yet. 409: the node is locked.
        self.log("inspection: %d %s", answer.status, answer.text())
        return False

    def _lookup(self, ironic):
        try:
            answer = ironic.lookup([nic["mac"] for nic in self.server.spec["nics"]])
        except Unreachable as error:
            self.log("lookup: %s", error)
            return False
        if answer.status != 200:
            return False
        found = answer.json()
        token = found["config"].get("agent_token") or ""
        if len(token) >= MIN_TOKEN_LENGTH:
            self.token = token
        self.heartbeat_timeout = found["config"].get("heartbeat_timeout") or DEFAULT_HEARTBEAT_TIMEOUT_SECONDS
        self.check_alive()
        self.node = found["node"]
        self.log("node %s", self.node_uuid)
        self.server.save()
        return True

    def _heartbeats(self, ironic):
        settings = self.server.settings
        body = {
            "callback_url": f"{settings.url}/agents/{self.server.name}",
            "agent_version": VERSION,
            "agent_token": self.token,
        }
        if settings.agent_tls:
            with open(settings.ca_file, encoding="ascii") as file:
                body["agent_verify_ca"] = file.read()
        soon = RETRY_SECONDS
        while not self._silent:
            self.check_alive()
            try:
                answer = ironic.heartbeat(self.node_uuid, body)
                status, text = answer.status, answer.text()
            except Unreachable as error:
                status, text = None, str(error)
            if status == 202:
                if self._accepted_at is None:
                    self._accepted_at = time.monotonic()
                wait = min(soon, settings.heartbeat_limit_seconds,
                           self.heartbeat_timeout * random.uniform(*HEARTBEAT_SHARE))
                soon *= HEARTBEAT_FACTOR
            elif status == 409:
                # Ironic is at work on the node.
                wait = RETRY_SECONDS
            else:
                self.log("heartbeat: %s %s", status, text)
                wait = ERROR_RETRY_SECONDS
            if self._wake.wait(wait):
                self._wake.clear()
                soon = RETRY_SECONDS

    def __repr__(self):
        return f"<agent of {self.server.name}>"
