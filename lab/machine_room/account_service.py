"""The BMCs' account service, which sushy-tools lacks: one account for each BMC, whose password can be replaced."""
from __future__ import annotations

import threading

import flask

from . import redfish
from .account import LOCKOUT_SECONDS, LONGEST, SHORTEST

ROOT = "/redfish/v1/AccountService"
ACCOUNTS = ROOT + "/Accounts"
ROLES = ROOT + "/Roles"
ROLE = "Administrator"
PRIVILEGES = ["Login", "ConfigureManager", "ConfigureUsers", "ConfigureSelf", "ConfigureComponents"]
# As vendors with slots number them: the first one is reserved.
SLOT = "2"

service = flask.Blueprint("MachineRoomAccounts", __name__)


@service.route(ROOT)
def account_service():
    """Show the service."""
    return {
        "@odata.type": "#AccountService.v1_15_0.AccountService", "@odata.id": ROOT, "Id": "AccountService",
        "Name": "Account service", "ServiceEnabled": True, "Status": {"State": "Enabled", "Health": "OK"},
        "MinPasswordLength": SHORTEST, "MaxPasswordLength": LONGEST,
        "AccountLockoutThreshold": redfish.asked().knobs.get("lockout_threshold"),
        "AccountLockoutDuration": LOCKOUT_SECONDS,
        "Accounts": {"@odata.id": ACCOUNTS}, "Roles": {"@odata.id": ROLES},
    }


@service.route(ACCOUNTS)
def accounts():
    """List the accounts: an empty slot and the BMC's."""
    return redfish.collection("Accounts", ACCOUNTS, ["1", SLOT])


@service.route(ROLES)
def roles():
    """List the roles."""
    return redfish.collection("Roles", ROLES, [ROLE])


@service.route(f"{ROLES}/{ROLE}")
def role():
    """Show the role of the accounts."""
    return {"@odata.type": "#Role.v1_3_1.Role", "@odata.id": f"{ROLES}/{ROLE}", "Id": ROLE, "RoleId": ROLE,
            "Name": ROLE, "AssignedPrivileges": PRIVILEGES, "IsPredefined": True}


@service.route(ACCOUNTS + "/<identity>")
def account(identity):
    """Show an account."""
    if identity not in ("1", SLOT):
        return redfish.fault(404, f"no account {identity}")
    return _shown(identity)


@service.route(ACCOUNTS + "/<identity>", methods=["PATCH"])
def change(identity):
    """Replace the password."""
    if identity != SLOT:
        return redfish.fault(404 if identity != "1" else 405, f"account {identity} can not be changed")
    server, wanted = redfish.asked(), flask.request.get_json(silent=True)
    known = server.bmc_account
    refused = known.refusal(flask.request.headers.get("If-Match"), wanted)
    if refused:
        return redfish.fault(*refused)
    known.set_password(wanted["Password"])
    server.console.print("BMC: the password of the account was replaced")
    delay = server.knobs.get("slow_password")
    if delay:
        # It counts already; only the answer is late.
        threading.Event().wait(delay)
    return _shown(identity)


def _shown(identity):
    known = redfish.asked().bmc_account
    mine = identity == SLOT
    answer = flask.jsonify({
        "@odata.type": "#ManagerAccount.v1_12_0.ManagerAccount", "@odata.id": f"{ACCOUNTS}/{identity}",
        "@odata.etag": known.etag, "Id": identity, "Name": f"Account {identity}",
        "UserName": known.username if mine else "", "Password": None, "Enabled": mine, "Locked": mine and known.locked,
        "PasswordChangeRequired": False, "AccountTypes": ["Redfish", "IPMI"] if mine else [],
        "RoleId": ROLE if mine else "None", "Links": {"Role": {"@odata.id": f"{ROLES}/{ROLE}"}} if mine else {},
    })
    answer.headers["ETag"] = known.etag
    return answer
