# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's image of Ironic: its contract in variables, and its layers."""
from __future__ import annotations

import configparser
import dataclasses
import gzip
import hashlib
import io
import json
import os
import tarfile
from pathlib import Path

import pytest
from ironic_image import configuration, dhcp, settings

from ansible_collections.metal3.baremetal.plugins.module_utils._lab import container_image, ironic_image, oci_layout

SOURCE = Path(__file__).resolve().parents[3] / "lab" / "ironic_image"
LINKS = [{"ifname": "lo", "address": "00:00:00:00:00:00", "addr_info": [{"local": "127.0.0.1", "scope": "host"}]},
         {"ifname": "eno1", "address": "00:5c:52:00:00:01", "addr_info": [{"local": "192.0.2.2", "scope": "global"}]}]


RPC = {"username": "conductor", "password": "canary", "htpasswd": "conductor:digest"}


def found(tls=True, htpasswd="user:digest", rpc=None, database_tls=True, **environ):
    return settings.Settings(environ, "192.0.2.2", tls, htpasswd, rpc or {}, database_tls)


def ironic(given, downloaded=False):
    parsed = configparser.RawConfigParser(strict=True)
    parsed.read_string(configuration.ironic(given, "/data/ironic", downloaded))
    return parsed


@pytest.mark.parametrize(("environ", "address"), [
    ({"IRONIC_IP": "192.0.2.9"}, "192.0.2.9"), ({"PROVISIONING_IP": "192.0.2.2/24"}, "192.0.2.2"),
    ({"PROVISIONING_IP": "192.0.2.3"}, None), ({"PROVISIONING_INTERFACE": "eno1"}, "192.0.2.2"),
    ({"PROVISIONING_MACS": "00:5C:52:00:00:01"}, "192.0.2.2"), ({"PROVISIONING_INTERFACE": "lo"}, None)])
def test_the_address_is_found_as_ironic_image_finds_it(environ, address):
    assert settings.address_of(LINKS, environ) == address
    assert settings.missing(environ) is None and "PROVISIONING_IP" in settings.missing({})


def test_behind_the_web_server_ironic_listens_on_a_socket_and_leaves_passwords_to_it():
    given = found(IRONIC_REVERSE_PROXY_SETUP="true", HTTP_PORT="6180")
    parsed = ironic(given)
    assert parsed["api"]["unix_socket"] == settings.SOCKET and parsed["DEFAULT"]["auth_strategy"] == "noauth"
    assert parsed["api"]["public_endpoint"] == "https://192.0.2.2:6385"
    text = configuration.web_server(given, "/data/ironic")
    assert "listen 6385 ssl;" in text and "auth_basic_user_file /data/ironic/htpasswd;" in text
    assert "auth_basic" not in text.partition("lookup|heartbeat")[2].partition("location")[0]


def test_without_tls_ironic_itself_asks_for_the_password():
    parsed = ironic(found(tls=False, IRONIC_REVERSE_PROXY_SETUP="true"))
    assert parsed["DEFAULT"]["auth_strategy"] == "http_basic"
    assert "ssl" not in configuration.web_server(found(tls=False), "/data/ironic")


def test_variables_end_up_where_ironic_image_puts_them():
    parsed = ironic(found(
        IRONIC_FAST_TRACK="false", IRONIC_KERNEL_PARAMS="console=ttyS0", DEPLOY_KERNEL_URL="https://images.example/k",
        WEBSERVER_CACERT_FILE="/certs/ca/ironic/tls.crt", IRONIC_BOOT_ISO_SOURCE="local"))
    assert parsed["deploy"]["fast_track"] == "false" and parsed["inspector"]["power_off"] == "true"
    assert "console=ttyS0" in parsed["redfish"]["kernel_append_params"]
    assert parsed["conductor"]["deploy_kernel"] == "https://images.example/k"
    assert parsed["DEFAULT"]["webserver_verify_ca"] == "/certs/ca/ironic/tls.crt"
    assert parsed["deploy"]["ramdisk_image_download_source"] == "local"
    assert ironic(found(), downloaded=True)["conductor"]["deploy_ramdisk"].startswith("file:///shared/html/images/")


@pytest.mark.parametrize(("there", "file"), [(True, "/conf/bmc-tls.pem"), (False, None)])
def test_bmcs_are_verified_by_the_authorities_of_their_folder(there, file):
    given = dataclasses.replace(found(), bmc_tls=there)
    assert ironic(given)["redfish"].get("verify_ca") == file


def test_with_mariadb_ironic_reaches_it_by_tls_and_needs_its_password():
    environ = {"IRONIC_USE_MARIADB": "true", "PROVISIONING_IP": "192.0.2.2"}
    assert "MARIADB_PASSWORD: not set" in settings.missing(environ)
    assert settings.missing(dict(environ, MARIADB_PASSWORD="canary")) is None
    connection = ironic(found(MARIADB_PASSWORD="canary", **environ))["database"]["connection"]
    assert connection == ("mysql+pymysql://ironic:canary@127.0.0.1/ironic?charset=utf8&ssl=on"
                          "&ssl_ca=/certs/ca/mariadb/tls.crt")
    assert ironic(found())["database"]["connection"].startswith("sqlite:")
    outside = found(MARIADB_PASSWORD="canary", MARIADB_HOST="db.example:3307", MARIADB_DATABASE="other",
                    database_tls=False, **environ)
    assert ironic(outside)["database"]["connection"] == (
        "mysql+pymysql://ironic:canary@db.example:3307/other?charset=utf8")


def test_json_rpc_is_exposed_with_the_certificate_and_a_password_of_its_own():
    exposed = {"IRONIC_EXPOSE_JSON_RPC": "true", "IRONIC_REVERSE_PROXY_SETUP": "true"}
    parsed = ironic(found(rpc=RPC, **exposed))
    assert parsed["DEFAULT"]["rpc_transport"] == "json-rpc" and parsed["DEFAULT"]["host"] == "192.0.2.2"
    assert {
        "auth_strategy": "http_basic", "http_basic_auth_user_file": "/data/ironic/htpasswd-rpc",
        "username": "conductor", "password": "canary", "host_ip": "::", "port": "6189", "use_ssl": "true",
        "cafile": "/certs/ca/ironic/tls.crt", "insecure": "false"}.items() <= dict(parsed["json_rpc"]).items()
    assert parsed["ssl"]["cert_file"] == "/certs/ironic/tls.crt"
    own = ironic(found(rpc=RPC, IRONIC_JSON_RPC_PORT="8089", LISTEN_ALL_INTERFACES="false", tls=False, **exposed))
    assert (own["json_rpc"]["port"], own["json_rpc"]["host_ip"]) == ("8089", "192.0.2.2")
    assert "use_ssl" not in own["json_rpc"]
    alone = ironic(found())
    assert alone["DEFAULT"]["rpc_transport"] == "none" and "json_rpc" not in alone


@pytest.mark.parametrize("name", sorted(RPC))
def test_json_rpc_needs_name_and_password(name):
    environ = {"IRONIC_EXPOSE_JSON_RPC": "true", "PROVISIONING_INTERFACE": "eno1"}
    assert settings.missing(environ, RPC) is None
    assert "/auth/ironic-rpc: found no username" in settings.missing(environ, dict(RPC, **{name: ""}))
    # Other containers of the pod have the same environment and no such Secret.
    assert settings.missing_address(environ) is None


def test_agents_call_where_the_site_says_and_boot_files_come_from_the_pod_itself():
    parsed = ironic(found(IRONIC_BASE_URL="https://192.0.2.9:6385", HTTP_PORT="6180"))
    assert parsed["service_catalog"]["endpoint_override"] == "https://192.0.2.9:6385"
    assert parsed["deploy"]["http_url"] == "http://192.0.2.2:6180"


def test_every_entry_point_is_a_link_that_the_program_knows():
    text = (SOURCE / "entry.py").read_text()
    for path in ironic_image.ENTRY_POINTS:
        assert f'"{os.path.basename(path)}":' in text
    assert {os.path.dirname(path) for path in ironic_image.FIRMWARE} == {dhcp.FIRMWARE}


def test_the_cached_image_depends_on_what_is_in_it(tmp_path):
    python = tmp_path / "services-1" / "bin" / "python"
    with pytest.raises(ironic_image.IronicImageError, match="found no Ironic"):
        ironic_image.IronicImage(str(SOURCE), str(python), str(tmp_path))
    (tmp_path / "services-1" / "lib" / ironic_image.PYTHON / "site-packages" / "ironic-39.0.0.dist-info").mkdir(
        parents=True)
    image = ironic_image.IronicImage(str(SOURCE), str(python), str(tmp_path))
    assert list(image.layouts()) == [
        "quay.io/metal3-io/ironic:v39.0.0", "quay.io/metal3-io/ironic:latest",
        "quay.io/metal3-io/ironic-ipa-downloader:latest"]
    assert image.directory == ironic_image.IronicImage(str(SOURCE), str(python), str(tmp_path)).directory
    other = tmp_path / "source"
    other.mkdir()
    (other / "entry.py").write_text("other")
    assert image.directory != ironic_image.IronicImage(str(other), str(python), str(tmp_path)).directory


def test_an_image_on_a_base_has_two_layers_in_their_order(tmp_path):
    base, program = tmp_path / "base.tar", tmp_path / "program"
    with tarfile.open(base, "w") as archive:
        archive.addfile(tarfile.TarInfo("bin/sh"), io.BytesIO())
    program.write_text("program")
    oci_layout.write(str(tmp_path / "image"), [container_image.File("/usr/bin/program", str(program))], ["/bin/sh"],
                     "x86_64", "997:994", str(base))

    def blob(descriptor):
        return (tmp_path / "image" / "blobs" / "sha256" / descriptor["digest"].partition(":")[2]).read_bytes()

    manifest = json.loads(blob(json.loads((tmp_path / "image" / "index.json").read_text())["manifests"][0]))
    layers = [gzip.decompress(blob(layer)) for layer in manifest["layers"]]
    assert layers[0] == base.read_bytes()
    with tarfile.open(fileobj=io.BytesIO(layers[1])) as archive:
        assert "usr/bin/program" in archive.getnames()
    config = json.loads(blob(manifest["config"]))
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers]
    assert config["config"]["User"] == "997:994"
