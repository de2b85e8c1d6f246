"""Imports container images into the root file system of a node: ``import_images.py ROOT IMAGES``.

Runs in mount and process namespaces of its own, so that mounts and containerd end with it however it ends.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import time

START_TIMEOUT_SECONDS = 30
SEARCH_PATH = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)
CTR = ["ctr", "--namespace", "k8s.io"]


def mount(*arguments):
    """Run mount."""
    subprocess.run(["mount", *arguments], check=True)


def chroot(root, arguments, **options):
    """Run a program in the root file system and return what it prints."""
    return subprocess.run(["chroot", root, *arguments], check=True, env=SEARCH_PATH, stdout=subprocess.PIPE,
                          text=True, **options).stdout


def _is_of_this_machine(item):
    """Return whether an image of a list is the one that was unpacked; an archive need not have the others."""
    platform = item.get("platform") or {"os": "linux", "architecture": ARCHITECTURE}
    return (platform.get("os"), platform.get("architecture")) == ("linux", ARCHITECTURE)


def layers(root, reference):
    """Return the digests of an image's layers."""
    manifest = next(line.split()[2] for line in chroot(root, [*CTR, "images", "list"]).splitlines()
                    if line.split()[0] == reference)
    contents = json.loads(chroot(root, [*CTR, "content", "get", manifest]))
    if "manifests" in contents:
        digest = next((item["digest"] for item in contents["manifests"] if _is_of_this_machine(item)), None)
        if digest is None:
            return []
        contents = json.loads(chroot(root, [*CTR, "content", "get", digest]))
    return [layer["digest"] for layer in contents["layers"]]


def main(root, images):
    """Import all archives of a folder.

    :param root: the root file system
    :param images: folder with archives
    """
    mount("-t", "proc", "proc", os.path.join(root, "proc"))
    mount("-t", "tmpfs", "tmpfs", os.path.join(root, "run"))
    mount("-t", "tmpfs", "tmpfs", os.path.join(root, "tmp"))
    mount("--rbind", "/sys", os.path.join(root, "sys"))
    mount("--rbind", "/dev", os.path.join(root, "dev"))
    os.mkdir(os.path.join(root, "tmp", "images"))
    mount("--bind", images, os.path.join(root, "tmp", "images"))
    log = os.path.join(root, "tmp", "containerd.log")
    with open(log, "wb") as stream:
        daemon = subprocess.Popen(["chroot", root, "containerd"], env=SEARCH_PATH, stdout=stream, stderr=stream)
    socket = os.path.join(root, "run", "containerd", "containerd.sock")
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while not os.path.exists(socket):
        if daemon.poll() is not None or time.monotonic() > deadline:
            with open(log, encoding="utf-8", errors="replace") as stream:
                sys.exit(f"containerd did not start: {stream.read()[-2000:]}")
        time.sleep(0.1)
    for name in sorted(os.listdir(images)):
        chroot(root, [*CTR, "images", "import", "/tmp/images/" + name])
    # The unpacked layers are what containers run from; the packed ones would only take room.
    for reference in chroot(root, [*CTR, "images", "list", "--quiet"]).split():
        if not reference.startswith("sha256:"):
            chroot(root, [*CTR, "content", "rm", *layers(root, reference)])
    # Removing a lease is what makes containerd delete what nobody refers to, and wait for it.
    chroot(root, [*CTR, "leases", "create", "--id", "collect"])
    chroot(root, [*CTR, "leases", "delete", "--sync", "collect"])
    daemon.terminate()
    daemon.wait(timeout=START_TIMEOUT_SECONDS)


if __name__ == "__main__":
    main(*sys.argv[1:])
