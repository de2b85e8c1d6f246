"""dnsmasq's configuration as ironic-image's ``rundnsmasq`` has it: addresses, TFTP, loaders by firmware; pure."""
from __future__ import annotations

from .settings import TFTP

DATA = "/data/dnsmasq"
# iPXE of Debian, by the names of ironic-image.
FIRMWARE = "/tftpboot"
LOADER = "snponly"
# Options 93 and 61: UEFI of x86 says 7 or 9.
_EFI, _ARM = (7, 9), 11


def configuration(settings, interface, leases):
    """Return the file for ``dnsmasq -C``.

    :param settings: a Settings
    :param interface: name of the interface of the provisioning network
    :param leases: path of the file of leases
    """
    lines = [f"interface={interface}"]
    lines += [f"except-interface={name}" for name in settings.get("DNSMASQ_EXCEPT_INTERFACE", "lo").split(",")]
    lines += ["bind-dynamic", "enable-tftp", f"tftp-root={TFTP}", "log-queries", f"dhcp-leasefile={leases}",
              f"port={settings.get('DNS_PORT', '0')}"]
    if settings.get("DHCP_RANGE"):
        lines += ["log-dhcp", *(f"dhcp-range={item}" for item in settings.get("DHCP_RANGE").split(";"))]
    lines.append(_name_server(settings))
    lines += _ipv6(settings, interface) if ":" in settings.address else _ipv4(settings)
    if settings.get("DHCP_IGNORE"):
        lines.append(f"dhcp-ignore={settings.get('DHCP_IGNORE')}")
    lines += [f"dhcp-host={item}" for item in settings.get("DHCP_HOSTS").split(";") if item]
    return "\n".join(lines) + "\n"


def _name_server(settings):
    address = settings.get("DNS_IP")
    if not address:
        # Without a value the option is not sent.
        return "dhcp-option=6"
    address = settings.host if address == "provisioning" else address
    return f"dhcp-option=option{'6' if ':' in address else ''}:dns-server,{address}"


def _script(settings):
    return settings.http_url + "/boot.ipxe"


def _ipv4(settings):
    gateway, loader = settings.get("GATEWAY_IP"), settings.get("SNP_BASENAME", LOADER)
    lines = ["dhcp-match=ipxe,175", f"dhcp-option=option:router,{gateway}" if gateway else "dhcp-option=3"]
    lines += [f"dhcp-option={item}" for item in settings.get("DHCP_OPTIONS").split(";") if item]
    lines += [f"dhcp-match=set:efi,option:client-arch,{number}" for number in _EFI]
    return [*lines, f"dhcp-boot=tag:efi,/{loader}-x86_64.efi,{settings.address}",
            f"dhcp-match=set:efi-arm64,option:client-arch,{_ARM}",
            f"dhcp-boot=tag:efi-arm64,/{loader}-arm64.efi,{settings.address}",
            f"dhcp-boot=tag:!efi,tag:!efi-arm64,/undionly.kpxe,{settings.address}",
            f"dhcp-boot=tag:ipxe,{_script(settings)}"]


def _ipv6(settings, interface):
    loader = f"{settings.tftp_url}/{settings.get('SNP_BASENAME', LOADER)}"
    lines = ["enable-ra", f"ra-param={interface},0,0", "dhcp-vendorclass=set:pxe6,enterprise:343,PXEClient",
             "dhcp-userclass=set:ipxe6,iPXE"]
    lines += [f"dhcp-match=set:amd64,option6:61,{number}" for number in _EFI]
    return [*lines, f"dhcp-option=tag:pxe6,tag:amd64,option6:bootfile-url,{loader}-x86_64.efi",
            f"dhcp-match=set:arm64,option6:61,{_ARM}",
            f"dhcp-option=tag:pxe6,tag:arm64,option6:bootfile-url,{loader}-arm64.efi",
            f"dhcp-option=tag:pxe6,tag:!amd64,tag:!arm64,option6:bootfile-url,{loader}-x86_64.efi",
            f"dhcp-option=tag:ipxe6,option6:bootfile-url,{_script(settings)}"]
