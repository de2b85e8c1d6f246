"""Run the machine room: ``python -m machine_room <settings file>``."""
from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading

from . import access_log, bmc, ipmi, serve
from . import settings as settings_module
from .account import Account
from .agent_api import AgentApi
from .api import Api
from .bmc_access import BmcAccess
from .disk_boot import DiskBoot
from .node_boot.namespace_boot import NamespaceBoot
from .server import Server
from .virtual.server import VirtualServer
from .web import Web

VIRTUAL = "virtual"


def main(path):
    """Serve until SIGTERM or SIGINT.

    :param path: the settings file
    """
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    # Disks, tokens and consoles are the owner's business.
    os.umask(0o077)
    settings = settings_module.load(path)
    with open(settings.servers_file, encoding="utf-8") as file:
        specs = json.load(file)
    with open(settings.token_file, encoding="utf-8") as file:
        token = file.read().strip()
    os.makedirs(settings.redfish_dir, exist_ok=True)
    web = Web(settings.ca_file)
    disk_boot = NamespaceBoot(settings.nodes) if settings.nodes else DiskBoot()
    servers = [VirtualServer(spec, settings, web) if spec["kind"] == VIRTUAL else
               Server(spec, settings, web, disk_boot) for spec in specs]
    by_name = {server.name: server for server in servers}
    api, agents = Api(by_name, token), AgentApi(by_name)

    def room(environ, start_response):
        return (agents if environ["PATH_INFO"].startswith("/agents/") else api)(environ, start_response)

    for server in servers:
        server.bmc_account = Account.read(server)
    others = access_log.AccessLog(os.path.join(settings.redfish_dir, access_log.FILE))
    redfish = BmcAccess(bmc.application(servers, settings), servers, others)
    running = [serve.server(application, address, port, settings.certificate_file, settings.key_file)
               for address in settings.addresses
               for application, port in ((redfish, settings.redfish_port), (room, settings.port))]
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_arguments: ended.set())
    for one in running:
        threading.Thread(target=one.serve, daemon=True).start()
    logging.info("%d servers, %d of them with IPMI", len(servers), ipmi.serve(servers, settings.addresses))
    ended.wait()
    for one in running:
        one.stop()


if __name__ == "__main__":
    main(sys.argv[1])
