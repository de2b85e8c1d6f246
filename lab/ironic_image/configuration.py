"""Ironic's and the web server's configuration; pure.

Options that need no variable of ironic-image are set by oslo.config's own: ``OS_<section>__<option>``.
"""
from __future__ import annotations

from .settings import AGENT_IMAGES, AUTHORITY, BMC_AUTHORITY, CERTIFICATE, DEPLOY_LOGS, HTML, KEY, SOCKET, TFTP

INTERFACES = {
    "bios": "no-bios,redfish,idrac-redfish",
    "boot": "ipxe,pxe,fake,redfish-virtual-media,idrac-redfish-virtual-media,redfish-https",
    "deploy": "autodetect,direct,fake,ramdisk,custom-agent,bootc",
    "firmware": "no-firmware,fake,redfish",
    "hardware_types": "ipmi,idrac,fake-hardware,redfish,manual-management",
    "inspect": "no-inspect,agent,fake,redfish,idrac-redfish",
    "management": "ipmitool,fake,redfish,idrac-redfish,noop",
    "network": "noop",
    "power": "ipmitool,fake,redfish,idrac-redfish",
    "raid": "no-raid,agent,fake,redfish,idrac-redfish",
    "vendor": "no-vendor,ipmitool,idrac-redfish,redfish,fake",
}


def _enabled():
    return dict(("enabled_" + (name if name == "hardware_types" else name + "_interfaces"), value)
                for name, value in INTERFACES.items())


def _api(settings):
    if settings.proxied:
        # The web server is another container: they share the folder only.
        return {"unix_socket": SOCKET, "unix_socket_mode": "0666", "public_endpoint": settings.base_url}
    values = {"host_ip": "::" if settings.listen_all else settings.address, "port": settings.listen_port}
    return dict(values, enable_ssl_api="true") if settings.tls else values


def _conductor(settings, agent_is_downloaded):
    kernel, ramdisk = settings.get("DEPLOY_KERNEL_URL"), settings.get("DEPLOY_RAMDISK_URL")
    if not kernel and not ramdisk and agent_is_downloaded:
        kernel, ramdisk = f"file://{AGENT_IMAGES}.kernel", f"file://{AGENT_IMAGES}.initramfs"
    return {
        "automated_clean": settings.get("IRONIC_AUTOMATED_CLEAN", "true"), "deploy_callback_timeout": "4800",
        "verify_step_priority_override": "management.clear_job_queue:90", "node_history": "false",
        "power_state_change_timeout": "120", "deploy_kernel": kernel, "deploy_ramdisk": ramdisk,
        "bootloader": settings.get("BOOTLOADER"), "file_url_allowed_paths": f"{HTML}/images,/templates",
        "disable_deep_image_inspection": settings.get("DISABLE_DEEP_IMAGE_INSPECTION"),
    }


def _json_rpc(settings, folder):
    values = {
        "auth_strategy": "http_basic", "http_basic_auth_user_file": folder + "/htpasswd-rpc",
        "username": settings.rpc["username"], "password": settings.rpc["password"],
        "host_ip": "::" if settings.listen_all else settings.address, "port": settings.rpc_port}
    return dict(values, use_ssl="true", cafile=settings.get("IRONIC_CACERT_FILE", AUTHORITY),
                insecure=settings.get("IRONIC_INSECURE", "false")) if settings.tls else values


def ironic(settings, folder, agent_is_downloaded):
    """Return the text of ``ironic.conf``.

    :param settings: a Settings
    :param folder: of this container: database, certificates of agents, password file
    :param agent_is_downloaded: whether the agent's kernel and ramdisk were put where ipa-downloader puts them
    """
    kernel_parameters = " ".join(filter(None, (
        "nofb nomodeset vga=normal ipa-insecure=" + settings.get("IRONIC_IPA_INSECURE", "1"),
        settings.get("IRONIC_KERNEL_PARAMS").strip(), "systemd.journald.forward_to_console=yes")))
    default = dict(
        _enabled(), auth_strategy="noauth", default_deploy_interface="autodetect",
        autodetect_deploy_interfaces="ramdisk,bootc,direct", default_inspect_interface="agent",
        default_network_interface="noop", use_stderr="true",
        rpc_transport="json-rpc" if settings.exposes_rpc else "none", hash_ring_algorithm="sha256",
        my_ip=settings.address, host=settings.get("IRONIC_CONDUCTOR_HOST", settings.host), tempdir="/shared/tmp",
        webserver_verify_ca=settings.get("WEBSERVER_CACERT_FILE", "false" if settings.flag(
            "IRONIC_INSECURE", False) else ""))
    if settings.htpasswd and not settings.proxied:
        default.update(auth_strategy="http_basic", http_basic_auth_user_file=folder + "/htpasswd")
    fast_track = settings.get("IRONIC_FAST_TRACK", "true")
    sections = {
        "DEFAULT": default,
        "agent": {"deploy_logs_collect": "always", "deploy_logs_local_path": DEPLOY_LOGS,
                  "max_command_attempts": "30", "certificates_path": folder + "/certificates",
                  "api_ca_file": AUTHORITY if settings.get("WEBSERVER_CACERT_FILE") else ""},
        "api": _api(settings),
        "conductor": _conductor(settings, agent_is_downloaded),
        "database": {"connection": settings.mariadb} if settings.mariadb else {
            "connection": f"sqlite:///{folder}/ironic.sqlite", "sqlite_synchronous": "false"},
        "deploy": {
            "default_boot_option": "local", "erase_devices_metadata_priority": "10", "erase_devices_priority": "0",
            "http_root": HTML, "http_url": settings.http_url, "fast_track": fast_track,
            "iso_master_path": HTML + "/master_iso_images",
            "ramdisk_image_download_source": settings.get("IRONIC_BOOT_ISO_SOURCE"),
            "external_http_url": settings.get("IRONIC_EXTERNAL_HTTP_URL"),
            "external_callback_url": settings.get("IRONIC_EXTERNAL_CALLBACK_URL")},
        "dhcp": {"dhcp_provider": "none"},
        "inspector": {
            "require_managed_boot": "false", "power_off": str(fast_track != "true").lower(),
            "extra_kernel_params": "ipa-inspection-collectors=%s ipa-enable-vlan-interfaces=%s "
                                   "ipa-inspection-dhcp-all-interfaces=1 ipa-collect-lldp=1" % (
                                       settings.get("IRONIC_IPA_COLLECTORS", "default,logs"),
                                       settings.get("IRONIC_ENABLE_VLAN_INTERFACES",
                                                    settings.get("IRONIC_INSPECTOR_VLAN_INTERFACES", "all"))),
            "hooks": "$default_hooks,parse-lldp", "add_ports": "all", "keep_ports": "present"},
        "pxe": {
            "boot_retry_timeout": "1200", "images_path": HTML + "/tmp", "instance_master_path": HTML + "/master_images",
            "tftp_master_path": TFTP + "/master_images", "tftp_root": TFTP,
            "kernel_append_params": kernel_parameters, "enable_netboot_fallback": "true"},
        "redfish": {"use_swift": "false", "kernel_append_params": kernel_parameters,
                    "verify_ca": BMC_AUTHORITY if settings.bmc_tls else ""},
        "service_catalog": {"endpoint_override": settings.base_url},
    }
    if settings.exposes_rpc:
        sections["json_rpc"] = _json_rpc(settings, folder)
    if settings.tls:
        sections["ssl"] = {"cert_file": CERTIFICATE, "key_file": KEY}
    return "\n".join("[%s]\n%s" % (name, "".join(
        f"{option} = {value}\n" for option, value in options.items() if value)) for name, options in sections.items())


def _files_server(settings):
    listen = settings.http_port if settings.listen_all else f"{settings.host}:{settings.http_port}"
    # With TLS, images of nodes are served beside the API, with its certificate.
    hidden = "        location ~ ^/images/(?!ironic) { deny all; }\n" if settings.tls else ""
    return f"""    server {{
        listen {listen};
        root {HTML};
        autoindex on;
{hidden}    }}
"""


def _api_server(settings, folder):
    listen = settings.listen_port if settings.listen_all else f"{settings.host}:{settings.listen_port}"
    proxy = "proxy_pass http://ironic; proxy_set_header Host $http_host;"
    login = f'auth_basic "Restricted area"; auth_basic_user_file {folder}/htpasswd;' if settings.htpasswd else ""
    return f"""    upstream ironic {{ server unix:{SOCKET}; }}
    server {{
        listen {listen} ssl;
        ssl_certificate {CERTIFICATE};
        ssl_certificate_key {KEY};
        ssl_protocols TLSv1.2 TLSv1.3;
        # Config drives come with the request.
        client_max_body_size 64m;
        location ~ ^/(v1/?)?$ {{ {proxy} }}
        location ~ ^/(v1/)?(lookup|heartbeat|continue_inspection) {{ {proxy} }}
        location /images {{ root {HTML}; }}
        location / {{ {login} {proxy} }}
    }}
"""


def web_server(settings, folder):
    """Return nginx's configuration: boot files by HTTP, and with TLS the API.

    :param settings: a Settings
    :param folder: of this container
    """
    temporary = "".join(f"    {name}_temp_path {folder}/{name};\n" for name in (
        "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return f"""daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
    types {{ application/x-iso9660-image iso; text/plain txt ipxe; }}
    default_type application/octet-stream;
    access_log /dev/stdout;
{temporary}    sendfile on;
    server_tokens off;
{_files_server(settings)}{_api_server(settings, folder) if settings.proxied else ""}}}
"""
