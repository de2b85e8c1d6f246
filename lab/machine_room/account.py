"""The account of a server's BMC: its password, which Redfish can replace and IPMI follows, and its lockout."""
from __future__ import annotations

import base64
import binascii
import hmac
import threading
import time

# The account is one of IPMI too, which takes no longer passwords.
SHORTEST, LONGEST = 8, 20
LOCKOUT_SECONDS = 30


class Account:
    """One account. What it must remember stands in the server's state; the files hold what it was delivered with.

    :param server: a Server; its ``account`` holds ``password``, ``revision``, ``failures`` and ``locked_until``
    :param username: user name
    :param delivered: the password until another one is set
    :param clock: seconds since 1970
    """

    def __init__(self, server, username, delivered, clock=time.time):
        self.username = username
        self._server, self._delivered, self._clock = server, delivered, clock
        self._lock = threading.Lock()
        # Since the password was set, or the machine room was started.
        self.accepted = 0

    @classmethod
    def read(cls, server):
        """Return the account whose credentials the files of a server's ``bmc`` entry hold."""
        return cls(server, _read(server.spec["bmc"]["username_file"]), _read(server.spec["bmc"]["password_file"]))

    @property
    def locked(self):
        """Whether the right password is refused, too."""
        return self._server.account.get("locked_until", 0) > self._clock()

    @property
    def etag(self):
        """What a change of the account must name."""
        return f'W/"{self._server.account.get("revision", 0)}"'

    @property
    def is_delivered(self):
        """Whether the password is the one of the files."""
        return self._current() == self._delivered

    def password(self, username):
        """Return the password of a user, or None when there is no such user, or none who may log in."""
        return self._current() if username == self.username and not self.locked else None

    def enter(self, authorization):
        """Return whether an Authorization header lets somebody in; a wrong password counts."""
        pair = pair_of(authorization)
        if pair is None or pair[0] != self.username:
            return False
        with self._lock:
            if self.locked:
                return False
            right = hmac.compare_digest(pair[1].encode("utf-8"), self._current().encode("utf-8"))
            if right:
                self.accepted += 1
                if self._server.account.get("failures"):
                    self._keep(failures=0)
            else:
                self._count_failure()
            return right

    def refusal(self, condition, wanted):
        """Return HTTP status and text when a change is refused, else None.

        :param condition: what the request names as the ETag that it rests on, or None
        :param wanted: its body
        """
        if not condition:
            return 428, "The request did not provide the required precondition, such as an If-Match header."
        if condition not in (self.etag, "*"):
            return 412, f"The ETag supplied, {condition}, did not match the ETag of the resource."
        if not isinstance(wanted, dict) or set(wanted) != {"Password"} or not isinstance(wanted["Password"], str):
            return 400, "expected Password, a text, and nothing else"
        password = wanted["Password"]
        if not SHORTEST <= len(password.encode("utf-8")) <= LONGEST:
            # Like many BMCs it quotes what it refuses, which nobody must print.
            return 400, (f"The value '{password}' for the property Password is of a different format than the property "
                         f"can accept: {SHORTEST} to {LONGEST} characters.")
        return None

    def set_password(self, password):
        """Replace the password; with the knob ``password_ignored`` the old one stays, as some BMCs do it."""
        with self._lock:
            changed = {} if self._server.knobs.get("password_ignored") else {"password": password}
            self._keep(revision=self._server.account.get("revision", 0) + 1, **changed)
            self.accepted = 0

    def reset(self):
        """Bring the account to what it was delivered with."""
        with self._lock:
            self._server.configure(account={})
            self.accepted = 0

    def describe(self):
        """Return what the machine room's API says of it."""
        kept = self._server.account
        return {"delivered": self.is_delivered, "accepted": self.accepted, "locked": self.locked,
                "failures": kept.get("failures", 0), "revision": kept.get("revision", 0)}

    def _current(self):
        return self._server.account.get("password", self._delivered)

    def _keep(self, **values):
        self._server.configure(account=dict(self._server.account, **values))

    def _count_failure(self):
        failures = self._server.account.get("failures", 0) + 1
        threshold = self._server.knobs.get("lockout_threshold")
        if threshold and failures >= threshold:
            self._keep(failures=0, locked_until=self._clock() + LOCKOUT_SECONDS)
        else:
            self._keep(failures=failures)


def pair_of(authorization):
    """Return user name and password of an Authorization header, None when it holds none."""
    scheme, token = (authorization.split(" ", 1) + [""])[:2]
    if scheme.lower() != "basic":
        return None
    try:
        username, colon, password = base64.b64decode(token, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (username, password) if colon else None


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()
