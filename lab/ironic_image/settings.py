"""What the environment says, in the names of Metal3's ironic-image; pure.

Source: https://github.com/metal3-io/ironic-image, README.md ("Environment variables") and scripts/ironic-common.sh.
"""
from __future__ import annotations

import dataclasses

API_PORT = "6385"
SOCKET = "/shared/ironic.sock"
HTML, TFTP = "/shared/html", "/shared/tftpboot"
DEPLOY_LOGS = "/shared/log/ironic/deploy"
AGENT_IMAGES = HTML + "/images/ironic-python-agent"
# Mounted by the component tls of BMO's kustomization.
CERTIFICATE, KEY = "/certs/ironic/tls.crt", "/certs/ironic/tls.key"
AUTHORITY = "/certs/ca/ironic/tls.crt"
# Authorities of BMCs, any files; Ironic gets them as one.
BMC_AUTHORITIES, BMC_AUTHORITY = "/certs/ca/bmc", "/conf/bmc-tls.pem"
HTPASSWD_FILE = "/auth/ironic/htpasswd"
# By its component mariadb, or of a database outside of the pod.
MARIADB_AUTHORITY = "/certs/ca/mariadb/tls.crt"
# Secrets that ironic-image takes from folders, each value a file.
DATABASE_LOGIN, RPC_LOGIN = "/auth/mariadb", "/auth/ironic-rpc"
# ironic-image's own, not Ironic's.
RPC_PORT = "6189"


@dataclasses.dataclass(frozen=True)
class Settings:
    """One container's settings.

    :param environ: the environment
    :param address: IP address that Ironic is reached at
    :param tls: whether the API has a certificate
    :param htpasswd: lines of the password file, or nothing
    :param rpc: ``username``, ``password`` and ``htpasswd`` of JSON-RPC, or nothing
    :param database_tls: whether the database's authority is there
    :param bmc_tls: whether the authorities of BMCs are there
    """

    environ: dict
    address: str
    tls: bool
    htpasswd: str
    rpc: dict = dataclasses.field(default_factory=dict, repr=False)
    database_tls: bool = True
    bmc_tls: bool = False

    def get(self, name, default=""):
        """Return a variable, or a default where it is missing or empty."""
        return self.environ.get(name) or default

    def flag(self, name, default):
        """Return a variable that says true or false."""
        return self.get(name, str(default)).lower() == "true"

    @property
    def host(self):
        """Return the address as URLs have it."""
        return f"[{self.address}]" if ":" in self.address else self.address

    @property
    def proxied(self):
        """Return whether the web server stands in front of the API, as with TLS."""
        return self.tls and self.flag("IRONIC_REVERSE_PROXY_SETUP", False)

    @property
    def listen_port(self):
        """Return the port that the API listens on."""
        return self.get("IRONIC_LISTEN_PORT", self.get("IRONIC_ACCESS_PORT", API_PORT))

    @property
    def http_port(self):
        """Return the port of boot files."""
        return self.get("HTTP_PORT", "80")

    @property
    def base_url(self):
        """Return the API's URL."""
        scheme = "https" if self.tls else "http"
        port = self.get("IRONIC_ACCESS_PORT", API_PORT)
        return self.get("IRONIC_BASE_URL", f"{scheme}://{self.host}:{port}")

    @property
    def http_url(self):
        """Return the URL of boot files."""
        return self.get("IRONIC_HTTP_URL", f"http://{self.host}:{self.http_port}")

    @property
    def mariadb(self):
        """Return the URL of MariaDB, in the pod unless another host is named, or nothing where Ironic has SQLite."""
        if not self.flag("IRONIC_USE_MARIADB", False):
            return ""
        user, host = self.get("MARIADB_USER", "ironic"), self.get("MARIADB_HOST", "127.0.0.1")
        return (f"mysql+pymysql://{user}:{self.get('MARIADB_PASSWORD')}@{host}/{self.get('MARIADB_DATABASE', 'ironic')}"
                f"?charset=utf8" + (f"&ssl=on&ssl_ca={MARIADB_AUTHORITY}" if self.database_tls else ""))

    @property
    def exposes_rpc(self):
        """Return whether other pods' Ironic reaches this conductor."""
        return exposes_rpc(self.environ)

    @property
    def rpc_port(self):
        """Return the port of JSON-RPC."""
        return self.get("IRONIC_JSON_RPC_PORT", RPC_PORT)

    @property
    def tftp_url(self):
        """Return the URL of what firmware reads by TFTP."""
        return self.get("IRONIC_TFTP_URL", f"tftp://{self.host}")

    @property
    def listen_all(self):
        """Return whether to listen on all interfaces."""
        return self.flag("LISTEN_ALL_INTERFACES", True)


def exposes_rpc(environ):
    """Return whether the environment asks for JSON-RPC, by its present or its former name."""
    return environ.get("IRONIC_DEPLOYMENT") == "Conductor" or (
        environ.get("IRONIC_EXPOSE_JSON_RPC") or "").lower() == "true"


def missing(environ, rpc=None):
    """Return what Ironic must know and does not, or None.

    :param environ: the environment, with the password of the database
    :param rpc: see :class:`Settings`
    """
    reason = missing_address(environ)
    if reason:
        return reason
    if (environ.get("IRONIC_USE_MARIADB") or "").lower() == "true" and not environ.get("MARIADB_PASSWORD"):
        return f"MARIADB_PASSWORD: not set, expected the password of MariaDB's user, here or in {DATABASE_LOGIN}"
    if exposes_rpc(environ) and not all((rpc or {}).get(name) for name in ("username", "password", "htpasswd")):
        return f"{RPC_LOGIN}: found no username and password, expected a Secret with both, since JSON-RPC is exposed"
    return None


def missing_address(environ):
    """Return what each container must know and does not, or None."""
    names = ("IRONIC_IP", "PROVISIONING_IP", "PROVISIONING_INTERFACE", "PROVISIONING_MACS")
    if not any(environ.get(name) for name in names):
        return "PROVISIONING_IP: not set, expected an address of this node; or set PROVISIONING_INTERFACE"
    return None


def address_of(links, environ):
    """Return the address that Ironic is reached at, or None while no interface has it.

    :param links: what ``ip -json address`` prints, parsed
    :param environ: the environment
    """
    if environ.get("IRONIC_IP"):
        return environ["IRONIC_IP"]
    wanted = (environ.get("PROVISIONING_IP") or "").partition("/")[0]
    macs = [mac for mac in (environ.get("PROVISIONING_MACS") or "").lower().split(",") if mac]
    for link in links:
        addresses = [entry["local"] for entry in link.get("addr_info") or [] if entry.get("scope") == "global"]
        if wanted:
            if wanted in addresses:
                return wanted
        elif addresses and (link.get("ifname") == environ.get("PROVISIONING_INTERFACE") or link.get("address") in macs):
            return addresses[0]
    return None


def interface_of(links, address):
    """Return the name of the interface that has an address, or None.

    :param links: see :func:`address_of`
    :param address: an IP address
    """
    return next((link["ifname"] for link in links for entry in link.get("addr_info") or []
                 if entry.get("local") == address), None)
