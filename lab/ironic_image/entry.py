"""The entry points of ironic-image: each is a link to one program, which acts by the name that it is called by."""
from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time

from . import configuration, dhcp, settings

FOLDER = os.path.join(os.environ.get("CUSTOM_DATA_DIR") or "/data", "ironic")
CONFIGURATION = os.environ.get("CUSTOM_CONFIG_DIR") or "/conf"
ADDRESS_SECONDS, DATABASE_SECONDS = 1200, 600
INTERVAL_SECONDS = 1


def _files(folder):
    """Return the values of a Secret that is mounted there, by their names."""
    found = {}
    for name in ("username", "password", "htpasswd"):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as stream:
                found[name] = stream.read().strip()
    return found


def _links():
    return json.loads(subprocess.run(["ip", "-json", "address"], stdout=subprocess.PIPE, check=True).stdout)


def _address(environ):
    """Return the address that Ironic is reached at, as soon as an interface has it."""
    deadline = time.monotonic() + float(environ.get("IRONIC_IP_WAIT_TIMEOUT") or ADDRESS_SECONDS)
    while True:
        address = settings.address_of(_links(), environ)
        if address:
            return address
        if time.monotonic() >= deadline:
            sys.exit("no interface has the address that Ironic is reached at")
        time.sleep(INTERVAL_SECONDS)


def _settings(with_secrets=False):
    """Return the Settings, as soon as an interface has the address.

    :param with_secrets: whether this is Ironic itself, which logs in to the database and to other conductors
    """
    environ, rpc = dict(os.environ), {}
    if with_secrets:
        for name, value in _files(settings.DATABASE_LOGIN).items():
            environ["MARIADB_" + name.upper()] = os.environ.get("MARIADB_" + name.upper()) or value
        rpc = _files(settings.RPC_LOGIN)
    reason = settings.missing(environ, rpc) if with_secrets else settings.missing_address(environ)
    if reason:
        sys.exit(reason)
    address = _address(environ)
    htpasswd = environ.get("IRONIC_HTPASSWD") or environ.get("HTTP_BASIC_HTPASSWD") or ""
    if os.path.exists(settings.HTPASSWD_FILE):
        with open(settings.HTPASSWD_FILE, encoding="utf-8") as stream:
            htpasswd = stream.read()
    tls = os.path.exists(settings.CERTIFICATE) or os.path.exists(settings.AUTHORITY)
    return settings.Settings(environ, address, tls, htpasswd.strip(), rpc, os.path.exists(settings.MARIADB_AUTHORITY),
                             bool(_bmc_authorities()))


def _bmc_authorities():
    """Return the certificates by which BMCs are verified, in PEM."""
    texts = []
    for path in sorted(glob.glob(settings.BMC_AUTHORITIES + "/*")):
        with open(path, encoding="utf-8") as stream:
            texts.append(stream.read())
    return "".join(texts)


def _write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)


def ironic():
    """Become Ironic."""
    found = _settings(with_secrets=True)
    for folder in (settings.HTML + "/images", settings.HTML + "/tmp", settings.DEPLOY_LOGS, "/shared/tmp",
                   settings.TFTP, FOLDER + "/certificates"):
        os.makedirs(folder, exist_ok=True)
    downloaded = os.path.exists(settings.AGENT_IMAGES + ".kernel")
    _write(CONFIGURATION + "/ironic.conf", configuration.ironic(found, FOLDER, downloaded))
    if found.bmc_tls:
        _write(settings.BMC_AUTHORITY, _bmc_authorities())
    if found.htpasswd:
        _write(FOLDER + "/htpasswd", found.htpasswd + "\n")
    if found.exposes_rpc:
        _write(FOLDER + "/htpasswd-rpc", found.rpc["htpasswd"] + "\n")
    if os.path.exists(settings.SOCKET):
        os.unlink(settings.SOCKET)
    options = ["--config-dir", CONFIGURATION]
    if found.mariadb:
        _migrate(options)
    elif not os.path.exists(FOLDER + "/ironic.sqlite"):
        subprocess.run(["/usr/bin/ironic-dbsync", *options, "create_schema"], check=True)
    os.execv("/usr/bin/ironic", ["/usr/bin/ironic", *options])


def _migrate(options):
    """Bring a database of MariaDB to this Ironic's schema; its container may start later than this one."""
    deadline = time.monotonic() + float(os.environ.get("IRONIC_DBSYNC_TIMEOUT") or DATABASE_SECONDS)
    while subprocess.run(["/usr/bin/ironic-dbsync", *options, "upgrade"], check=False).returncode:
        if time.monotonic() >= deadline:
            sys.exit("the schema of the database could not be brought to this version: is MariaDB reached?")
        time.sleep(INTERVAL_SECONDS)


def httpd():
    """Become the web server."""
    found = _settings()
    # Boot files are written by the container beside this one, which may come later.
    os.makedirs(settings.HTML + "/images", exist_ok=True)
    if found.htpasswd:
        _write(FOLDER + "/htpasswd", found.htpasswd + "\n")
    _write(FOLDER + "/nginx.conf", configuration.web_server(found, FOLDER))
    os.execv("/usr/sbin/nginx", ["/usr/sbin/nginx", "-c", FOLDER + "/nginx.conf", "-e", "stderr"])


def logwatch():
    """Print the logs that agents leave, and remove them."""
    os.makedirs(settings.DEPLOY_LOGS, exist_ok=True)
    sizes = {}
    while True:
        found = {}
        for name in sorted(os.listdir(settings.DEPLOY_LOGS)):
            path = os.path.join(settings.DEPLOY_LOGS, name)
            found[path] = os.path.getsize(path)
            # Unchanged since the last look: written to its end.
            if sizes.get(path) == found[path]:
                _print_logs(path)
                os.unlink(path)
        sizes = found
        time.sleep(INTERVAL_SECONDS)


def _print_logs(path):
    name = os.path.basename(path)
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                stream = archive.extractfile(member)
                for line in stream or ():
                    print(f"{name}: {member.name}: {line.decode('utf-8', 'replace').rstrip()}", flush=True)
    except (OSError, tarfile.TarError) as exc:
        print(f"{name}: {exc}", flush=True)


def dnsmasq():
    """Become the server of DHCP and TFTP."""
    found = _settings()
    os.makedirs(settings.HTML, exist_ok=True)
    os.makedirs(settings.TFTP, exist_ok=True)
    for name in os.listdir(dhcp.FIRMWARE):
        shutil.copyfile(os.path.join(dhcp.FIRMWARE, name), os.path.join(settings.TFTP, name))
    folder = os.environ.get("DNSMASQ_DATA_DIR") or dhcp.DATA
    os.makedirs(folder, exist_ok=True)
    interface = os.environ.get("PROVISIONING_INTERFACE") or settings.interface_of(_links(), found.address)
    _write(folder + "/dnsmasq.conf", dhcp.configuration(found, interface, folder + "/dnsmasq.leases"))
    os.execv("/usr/sbin/dnsmasq", ["/usr/sbin/dnsmasq", "-d", "-q", "-C", folder + "/dnsmasq.conf"])


def probe():
    """Ask Ironic, past the web server where there is one."""
    found = _settings()
    where = ["--unix-socket", settings.SOCKET, "http://127.0.0.1/"] if found.proxied else ["-k", found.base_url]
    os.execvp("curl", ["curl", "-sSf", "-o", "/dev/null", *where])


def agent_images():
    """Download the agent's kernel and ramdisk, unless they are named by their own URLs."""
    if os.environ.get("DEPLOY_KERNEL_URL"):
        return
    source = os.environ.get("CACHEURL") or os.environ.get("IPA_BASEURI")
    if not source:
        sys.exit("CACHEURL: not set, expected the URL of a folder with ironic-python-agent.kernel and .initramfs")
    os.makedirs(os.path.dirname(settings.AGENT_IMAGES), exist_ok=True)
    for end in (".kernel", ".initramfs"):
        subprocess.run(["curl", "-sSfL", "-o", settings.AGENT_IMAGES + end,
                        source.rstrip("/") + "/ironic-python-agent" + end], check=True)


ENTRIES = {
    "runironic": ironic, "runhttpd": httpd, "runlogwatch.sh": logwatch, "rundnsmasq": dnsmasq,
    "ironic-liveness": probe, "ironic-readiness": probe, "get-resource.sh": agent_images,
}


def main():
    """Act by the name that this program was called by."""
    ENTRIES[os.path.basename(sys.argv[0])]()
