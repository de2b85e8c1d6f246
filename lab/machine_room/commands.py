"""The commands that Ironic sends to an agent, named, parametrised and answered as by ironic-python-agent.

tests/lab/test_agent_contract.py compares COMMANDS and NOT_SIMULATED with the real agent's.
"""
from __future__ import annotations

import base64
import gzip
import io
import tarfile
import threading
import uuid

from . import steps
from .agent_errors import AgentBusy, AgentError, InvalidContent

RUNNING, SUCCEEDED, FAILED = "RUNNING", "SUCCEEDED", "FAILED"
MANAGER_VERSION = {"generic_hardware_manager": "1.2"}

# Commands of the real agent that are missing here, and why.
NOT_SIMULATED = {
    "flow.start_flow": "runs several commands in one; Ironic does not send it",
    "poll.get_hardware_info": "the polling agent's way, for Ironic deployments without heartbeats",
    "poll.set_node_info": "the polling agent's way, for Ironic deployments without heartbeats",
    "rescue.finalize_rescue": "BareMetalHosts have no rescue mode",
    "standby.execute_bootc_install": "needs podman and a container registry on the machine",
    "system.lockdown": "sent to nodes with disable_power_off alone, which the lab boots none of",
}

COMMANDS = {}


def command(name, asynchronous=False):
    """Register a method as an agent's command.

    :param name: ``extension.command``
    :param asynchronous: whether it runs in the background and ends with a heartbeat
    """
    def register(method):
        method.asynchronous = asynchronous
        COMMANDS[name] = method
        return method
    return register


class Commands:
    """The commands of one agent: what it can do, and what it was asked to do.

    :param agent: the Agent
    """

    def __init__(self, agent):
        self._agent = agent
        self._results = []
        self._lock = threading.Lock()

    def list(self):
        """Return all results, oldest first."""
        with self._lock:
            return [dict(result) for result in self._results]

    def restore(self, results):
        """Take over the results of before a restart; what ran then was cut off."""
        for result in results:
            if result["command_status"] == RUNNING:
                result = dict(result, command_status=FAILED,
                              command_error=AgentError("the machine room was restarted meanwhile").serialize())
            self._results.append(result)

    def get(self, identity):
        """Return one result, or None."""
        return next((result for result in self.list() if result["id"] == identity), None)

    def execute(self, name, params, wait):
        """Run a command and return its result, for an asynchronous one the result as it is so far.

        :param name: ``extension.command``
        :param params: mapping of parameters
        :param wait: whether to wait for an asynchronous command
        :raises InvalidContent: for an unknown command
        :raises AgentBusy: while another one runs
        """
        method = COMMANDS.get(name)
        if method is None:
            raise InvalidContent(f"Unknown command: {name}")
        result = {"id": str(uuid.uuid4()), "command_name": name.split(".", 1)[1], "command_status": RUNNING,
                  "command_error": None, "command_result": None}
        with self._lock:
            if self._results and self._results[-1]["command_status"] == RUNNING:
                raise AgentBusy(self._results[-1]["command_name"])
            self._results.append(result)
        if method.asynchronous and not wait:
            threading.Thread(target=self._run, args=(method, params, result), daemon=True,
                             name=f"command-{self._agent.server.name}").start()
        else:
            self._run(method, params, result)
        return self.get(result["id"])

    def _run(self, method, params, result):
        try:
            value = method(self, **params)
            if isinstance(value, str):
                prefix = f"{result['command_name']}: " if method.asynchronous else ""
                value = {"result": prefix + value}
            change = {"command_result": value, "command_status": SUCCEEDED}
        except AgentError as error:
            change = {"command_error": error.serialize(), "command_status": FAILED}
        except Exception as error:
            change = {"command_error": AgentError(str(error), kind=type(error).__name__).serialize(),
                      "command_status": FAILED}
        if not self._agent.answers:
            return
        self._agent.log("%s: %s%s", result["command_name"], change["command_status"],
                        f" {change['command_error']['details']}" if "command_error" in change else "")
        with self._lock:
            result.update(change)
        self._agent.server.save()
        if method.asynchronous:
            self._agent.call_soon()

    @command("clean.get_clean_steps")
    def get_clean_steps(self, node, ports):
        return {"clean_steps": {"GenericHardwareManager": steps.offered("clean")},
                "hardware_manager_version": MANAGER_VERSION}

    @command("clean.execute_clean_step", asynchronous=True)
    def execute_clean_step(self, step, node, ports, clean_version=None, **kwargs):
        return {"clean_result": steps.execute(self._agent, "clean", step, node, kwargs), "clean_step": step}

    @command("deploy.get_deploy_steps")
    def get_deploy_steps(self, node, ports):
        return {"deploy_steps": {"GenericHardwareManager": steps.offered("deploy")},
                "hardware_manager_version": MANAGER_VERSION}

    @command("deploy.execute_deploy_step", asynchronous=True)
    def execute_deploy_step(self, step, node, ports, deploy_version=None, **kwargs):
        return {"deploy_result": steps.execute(self._agent, "deploy", step, node, kwargs), "deploy_step": step}

    @command("service.get_service_steps")
    def get_service_steps(self, node, ports):
        return {"service_steps": {"GenericHardwareManager": steps.offered("service")},
                "hardware_manager_version": MANAGER_VERSION}

    @command("service.execute_service_step", asynchronous=True)
    def execute_service_step(self, step, node, ports, service_version=None, **kwargs):
        return {"service_result": steps.execute(self._agent, "service", step, node, kwargs), "service_step": step}

    @command("standby.prepare_image", asynchronous=True)
    def prepare_image(self, image_info, configdrive=None):
        return steps.write_image(self._agent, self._agent.node, image_info, configdrive)

    @command("standby.get_partition_uuids")
    def get_partition_uuids(self):
        return self._agent.partition_uuids

    @command("standby.sync")
    def sync(self):
        return None

    @command("standby.run_image", asynchronous=True)
    def run_image(self):
        self._agent.server.agent_asks(self._agent, "restart")

    @command("standby.power_off", asynchronous=True)
    def power_off(self):
        self._agent.server.agent_asks(self._agent, "power_off")

    @command("image.install_bootloader", asynchronous=True)
    def install_bootloader(self, root_uuid, efi_system_part_uuid=None, prep_boot_part_uuid=None,
                           target_boot_mode="bios", ignore_bootloader_failure=None):
        self._agent.log("%s boot entry for the disk", target_boot_mode)

    @command("log.collect_system_logs")
    def collect_system_logs(self):
        text = "\n".join(self._agent.server.console.tail(2000)).encode("utf-8")
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            entry = tarfile.TarInfo("console")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text))
        return {"system_logs": base64.b64encode(gzip.compress(archive.getvalue())).decode("ascii")}
