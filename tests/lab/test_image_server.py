# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image server on a machine with a real systemd, by the playbook: nginx, TLS, and images of another one. Needs root.

No lab takes part: the machine is this one's root file system in namespaces, with a network of its own. It runs two
image servers; one of them takes its images from the other.
"""
from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
import systemd_machine
from plane_operator import Operator
from support import eventually

pytestmark = [pytest.mark.nodes, pytest.mark.plane]

ADDRESS = systemd_machine.ADDRESS
MIB = 1024 ** 2
STATE = "/var/lib/metal3.baremetal/image-server-"
UPSTREAM = {"image_server_name": "upstream", "image_server_addresses": [ADDRESS], "image_server_port": 8443,
            "image_server_directory": "/srv/upstream", "image_server_packages": [], "image_server_images": [
                {"name": "debian.qcow2", "path": "/root/debian.qcow2"}, {"name": "backed.bin", "path": "/root/plain"},
                {"name": "large.bin", "path": "/root/large.bin"}]}
SERVER = {"image_server_addresses": [ADDRESS, "127.0.0.1"], "image_server_names": ["images.example.org"],
          "image_server_packages": [], "image_server_directory": "/srv/www",
          "image_server_download_ca_file": f"{STATE}upstream/pki/ca.crt"}
UNIT = "metal3-image-server-images.service"
URL = f"https://{ADDRESS}"
# Half of the large file's time is enough to be killed in.
SLOW = """daemon off; master_process off; pid /run/slow.pid; error_log stderr; events {}
http { access_log off; server { listen 127.0.0.1:8081; root /srv/slow; limit_rate 2m; } }
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """The machine, with images to serve."""
    with systemd_machine.Machine(tmp_path_factory.mktemp("machine")) as found:
        found.start()
        found.run("sh", "-ec", """
            cd /root
            truncate -s 64M debian.raw
            printf '\\125\\252' | dd of=debian.raw bs=1 seek=510 conv=notrunc status=none
            dd if=/dev/urandom of=debian.raw bs=1M seek=8 count=4 conv=notrunc status=none
            qemu-img convert -f raw -O qcow2 -c debian.raw debian.qcow2
            qemu-img create -q -f qcow2 -b /root/debian.qcow2 -F qcow2 backed.qcow2
            dd if=/dev/urandom of=large.bin bs=1M count=16 status=none
            echo plain > plain""")
        yield found


@pytest.fixture(scope="module")
def operator(machine):
    return Operator(machine, None, "/root")


@pytest.fixture(scope="module")
def upstream(machine, operator):
    """The other server; returns a function that describes one of its images."""
    operator.playbook("image_server", **UPSTREAM)

    def image(name, served, **options):
        digest = machine.run("sha256sum", f"/srv/upstream/{served}").stdout.split()[0]
        return dict({"name": name, "url": f"https://{ADDRESS}:8443/{served}", "checksum": digest}, **options)
    return image


def served(machine, path, *arguments, ca=f"{STATE}images/pki/ca.crt", check=True, url=URL):
    return machine.run("curl", "--silent", "--show-error", "--fail", "--max-time", "20", "--noproxy", "*",
                       *(("--cacert", ca) if ca else ()), *arguments, f"{url}/{path}", check=check)


def files(machine, folder="/srv/www"):
    return machine.run("ls", "-A", folder, check=False).stdout.split()


def test_mistakes_are_named_at_once_and_nothing_is_written(machine, operator):
    answer = operator.playbook("image_server", fails=True, **dict(
        SERVER, image_server_port=0, image_server_directory="/etc", image_server_key_file="/root/a.key",
        image_server_images=[{"name": "a", "url": "https://images.example.org/a"}]))
    answer.says("4 problems, nothing was changed")
    for field in ("image_server_port", "image_server_directory", "image_server_certificate_file",
                  "image_server_images[0].checksum"):
        answer.says(field)
    assert files(machine, "/srv/www") == [] and machine.run("test", "-e", STATE + "images", check=False).returncode


def test_check_mode_writes_nothing(machine, operator, upstream):
    operator.playbook("image_server", "--check", "--diff", **dict(
        SERVER, image_server_images=[upstream("debian.raw", "debian.qcow2", format="raw")])).says(
            f"{URL.replace(ADDRESS, 'images.example.org')}/debian.raw, would be published")
    assert files(machine) == [] and machine.run("test", "-e", STATE + "images", check=False).returncode


def test_images_of_another_server_are_converted_and_served_with_tls(machine, operator, upstream):
    images = [upstream("debian.raw", "debian.qcow2", format="raw"),
              upstream("debian.qcow2", "debian.qcow2", checksum=f"https://{ADDRESS}:8443/debian.qcow2.sha256")]
    began = time.monotonic()
    operator.playbook("image_server", **dict(SERVER, image_server_images=images))
    print(f"served in {time.monotonic() - began:.1f} s")
    verified = machine.run("systemd-analyze", "verify", f"/etc/systemd/system/{UNIT}")
    assert (verified.stdout + verified.stderr).strip() == ""
    assert machine.run("systemctl", "is-enabled", UNIT).stdout == "enabled\n"
    for name in ("debian.raw", "debian.qcow2"):
        served(machine, name, "--output", f"/root/got-{name}")
        machine.run("cmp", f"/root/got-{name}", f"/root/{name}")
        digest = machine.run("sha256sum", f"/root/{name}").stdout.split()[0]
        assert served(machine, f"{name}.sha256").stdout == f"{digest}  {name}\n"
    # By a name of the certificate; not without the authority; no file that is not published yet.
    served(machine, "healthz", "--resolve", f"images.example.org:443:{ADDRESS}", url="https://images.example.org")
    assert served(machine, "healthz", ca=None, check=False).returncode == 60
    assert "404" in served(machine, ".image.lock", check=False).stderr
    users = machine.run("ps", "-o", "user:20=", "-C", "nginx").stdout.split()
    assert "www-data" in users and "root" in users
    again = operator.playbook("image_server", **dict(SERVER, image_server_images=images))
    assert again.changed() == 0, again
    assert operator.playbook("image_server", "--check", **dict(SERVER, image_server_images=images)).changed() == 0


def test_a_link_in_the_folder_publishes_nothing_and_the_folder_itself_may_be_one(machine):
    """Whoever may write to a folder of images could otherwise publish what nginx reads."""
    machine.run("sh", "-ec", "ln -s /etc/hostname /srv/www/linked; ln -s /etc /srv/www/folder; "
                             "ln /srv/www/debian.raw /srv/www/hard.raw; mv /srv/www /srv/disk; ln -s disk /srv/www")
    try:
        for path, status in (("linked", "403"), ("folder/hostname", "404")):
            assert status in served(machine, path, check=False).stderr, path
        served(machine, "hard.raw", "--output", "/root/got-hard.raw")
        machine.run("cmp", "/root/got-hard.raw", "/root/debian.raw")
    finally:
        machine.run("sh", "-ec", "rm /srv/www; mv /srv/disk /srv/www; cd /srv/www; rm linked folder hard.raw")


def test_another_image_under_the_same_name_keeps_the_former_one(machine, operator, upstream):
    former = {name for name in files(machine) if name.startswith("debian.") and name.endswith(".raw")}
    machine.run("sh", "-ec", "printf '\\125\\252' | dd of=/root/large.bin bs=1 seek=510 conv=notrunc status=none")
    operator.playbook("image_server", **UPSTREAM)
    image = upstream("debian.raw", "large.bin")
    operator.playbook("image_server", **dict(SERVER, image_server_images=[image]))
    assert former < {name for name in files(machine) if name.endswith(".raw")}
    assert served(machine, "debian.raw.sha256").stdout.split()[0] == image["checksum"]
    operator.playbook("image_server", **dict(SERVER, image_server_images=[image], image_server_keep_versions=0))
    assert sorted(name for name in files(machine) if name.endswith(".raw")) == sorted(
        ["debian.raw", f"debian.{image['checksum'][:12]}.raw"])


def test_what_is_refused_is_named_and_the_other_images_come(machine, operator, upstream):
    machine.run("cp", "/root/backed.qcow2", "/srv/upstream/backed.qcow2")
    answer = operator.playbook("image_server", fails=True, **dict(SERVER, image_server_images=[
        upstream("backed.qcow2", "backed.qcow2"), upstream("wrong", "large.bin", checksum="0" * 64),
        upstream("missing", "large.bin", url=f"https://{ADDRESS}:8443/no-such"), upstream("right", "large.bin")]))
    answer.says("backed.qcow2: backing file: found a backing file")
    answer.says("wrong: ")
    answer.says(f"expected sha256:{'0' * 64}; correct the checksum")
    answer.says("missing: ")
    answer.says("HTTP 404")
    assert "right" in files(machine) and not {"backed.qcow2", "wrong", "missing"} & set(files(machine))


def test_a_killed_run_goes_on_where_it_was(machine, operator, upstream):
    machine.run("tee", "/root/slow.conf", text=SLOW)
    machine.run("systemd-run", "--unit=slow", "/usr/sbin/nginx", "-c", "/root/slow.conf", "-e", "stderr")
    # Content that no image has yet, because that is not downloaded again.
    machine.run("sh", "-ec", "mkdir /srv/slow; dd if=/dev/urandom of=/srv/slow/slow.bin bs=1M count=16 status=none")
    image = upstream("slow.bin", "../slow/slow.bin", url="http://127.0.0.1:8081/slow.bin")
    path = operator.inventory(**dict(SERVER, image_server_images=[image]))
    environment = [f"--setenv={key}={value}" for key, value in operator.environment.items()]
    playbook = str(Path(sys.executable).parent / "ansible-playbook")
    machine.run("systemd-run", "--unit=killed", "--setenv=HOME=/root", "--setenv=LANG=C.UTF-8", *environment, playbook,
                "metal3.baremetal.image_server", "-i", path)

    def partial():
        sizes = machine.run("sh", "-c", "stat -c %s /srv/www/.metal3-cache/*.partial", check=False).stdout.split()
        # One of a run whose server had no such file is empty.
        largest = max(map(int, sizes), default=0)
        return largest if largest > MIB else 0
    eventually(partial, 300, "a part of the download")
    machine.run("systemctl", "kill", "--signal=KILL", "killed")
    eventually(lambda: machine.run("systemctl", "is-active", "killed", check=False).stdout != "active\n", 30, "its end")
    there = partial()
    assert MIB < there < 16 * MIB and "slow.bin" not in files(machine)
    machine.run("systemctl", "stop", "slow")
    machine.run("sed", "-i", "s/limit_rate 2m/access_log \\/root\\/slow.log/", "/root/slow.conf")
    machine.run("sed", "-i", "s/access_log off; //", "/root/slow.conf")
    machine.run("systemd-run", "--unit=fast", "/usr/sbin/nginx", "-c", "/root/slow.conf", "-e", "stderr")
    operator.playbook("image_server", **dict(SERVER, image_server_images=[image]))
    machine.run("cmp", "/srv/www/slow.bin", "/srv/slow/slow.bin")
    # What came is what was missing.
    request = machine.run("cat", "/root/slow.log").stdout.partition('HTTP/1.1" ')[2].split()
    assert request[0] == "206" and int(request[1]) == 16 * MIB - there, request
    assert files(machine, "/srv/www/.metal3-cache") == []
    print(f"{there} bytes were there")


def test_a_full_disk_is_named_before_a_download_and_before_a_conversion(machine, operator, upstream):
    machine.run("mkdir", "-p", "/srv/full")
    machine.run("mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", "/srv/full")
    full = dict(SERVER, image_server_name="full", image_server_port=9443, image_server_directory="/srv/full")
    answer = operator.playbook("image_server", fails=True, **dict(full, image_server_images=[
        upstream("large.bin", "large.bin"), upstream("debian.raw", "debian.qcow2", format="raw")]))
    answer.says("large.bin: directory: found")
    answer.says("for the rest of the download; free space")
    answer.says("debian.raw: directory: found")
    answer.says("for the image as raw; free space")
    assert not [name for name in files(machine, "/srv/full") if not name.startswith(".")]
    machine.run("mount", "-o", "remount,size=64m", "/srv/full")
    operator.playbook("image_server", **dict(full, image_server_images=[
        upstream("debian.raw", "debian.qcow2", format="raw")]))
    machine.run("cmp", "/srv/full/debian.raw", "/root/debian.raw")


def test_given_certificates_are_served_and_a_changed_one_is_read_without_ending_downloads(machine, operator):
    machine.run("sh", "-ec", f"""
        cd /root
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=given \
          -addext subjectAltName=IP:{ADDRESS} -keyout given.key -out given.crt 2>/dev/null""")
    given = dict(SERVER, image_server_certificate_file="/root/given.crt", image_server_key_file="/root/given.key")
    before = machine.run("systemctl", "show", "--value", "--property=MainPID", UNIT).stdout
    operator.playbook("image_server", **given)
    served(machine, "healthz", ca="/root/given.crt")
    # Killed between the file and the reload: the next run has it read.
    machine.run("sh", "-c", f"echo older > {STATE}images/applied-configuration")
    assert operator.playbook("image_server", **given).changed() > 0
    assert operator.playbook("image_server", **given).changed() == 0
    assert machine.run("systemctl", "show", "--value", "--property=MainPID", UNIT).stdout == before
    operator.playbook("image_server", fails=True, **dict(given, image_server_key_file="/root/none.key")).says(
        "missing on this machine: /root/none.key")


def test_it_is_back_after_a_restart_whose_address_is_late(machine):
    machine.power_off()
    machine.start(address_after=lambda: eventually(
        lambda: machine.run("systemctl", "show", "--value", "--property=NRestarts", UNIT).stdout.strip() != "0", 60,
        "a start without the address"))
    eventually(lambda: served(machine, "healthz", ca="/root/given.crt", check=False).stdout == "ok\n", 60, "an answer")


def test_it_is_removed_by_name_and_files_stay_unless_asked(machine, operator):
    gone = dict(SERVER, image_server_state="absent")
    operator.playbook("image_server", fails=True, **gone).says("repeat its name: -e metal3_confirm=images")
    operator.playbook("image_server", "--check", **gone)
    assert machine.run("systemctl", "is-active", UNIT).stdout == "active\n"
    operator.playbook("image_server", "-e", "metal3_confirm=images", **gone)
    assert "slow.bin" in files(machine) and files(machine, STATE + "images") == ["pki"]
    assert machine.run("systemctl", "is-enabled", UNIT, check=False).stdout in ("", "not-found\n")
    assert served(machine, "healthz", check=False).returncode == 7
    operator.playbook("image_server", "-e", "metal3_confirm=images", **dict(gone, image_server_remove_files=True))
    assert machine.run("test", "-e", "/srv/www", check=False).returncode
    assert machine.run("test", "-e", STATE + "images", check=False).returncode
    assert operator.playbook("image_server", "-e", "metal3_confirm=images", **gone).changed() == 0
    # The other one runs on.
    served(machine, "healthz", ca=f"{STATE}upstream/pki/ca.crt", url=f"https://{ADDRESS}:8443")
