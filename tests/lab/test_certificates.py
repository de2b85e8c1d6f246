# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of the lab's certificates, and of one that ends soon and one of another authority."""
from __future__ import annotations

import shutil

import bmc_certificates


def test_the_labs_certificates_are_fine(lab):
    run = lab.playbook("certificates").ok()
    assert run.changed() == 0
    rows = [line.split() for line in run.output.splitlines() if "/pki/" in line]
    assert len(rows) == len(list((lab.dir / "pki").rglob("*.crt"))) and all(row[0] == "ok" for row in rows)


def test_what_ends_soon_and_what_nobody_trusts_fail_the_run(lab, tmp_path):
    folder = tmp_path / "lab"
    shutil.copytree(lab.dir / "pki", folder / "pki")
    shutil.copy(lab.dir / "kubeconfig", folder / "kubeconfig")
    bmc_certificates.issue(folder / "pki", "of-nobody", days=300)
    figures = {"management_plane": dict(lab.figures, dir=str(folder))}
    run = lab.playbook("certificates", extra=figures).failed("/pki/of-nobody.crt to renew, expected none")
    assert "untrusted" in run.output
    (folder / "pki" / "of-nobody.crt").unlink()
    run = lab.playbook("certificates", extra=dict(figures, certificates_warn_days=4000))
    run.failed("/pki/ca.crt", "to renew, expected none")
    assert "expiring" in run.output
