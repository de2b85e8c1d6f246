# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong when talking to metal-api, in words an operator can act on; pure."""
from __future__ import annotations

from collections.abc import Iterable

from .._common.documents.document_text import from_json
from .._common.problems.errors import ReportedError
from .._common.redaction import quoted_secrets
from .._common.texts.plain_text import cut, plain

_LONGEST_FAULT = 4000
_ADVICE = {
    401: "check hmac_key and hmac_user, or token, and this machine's clock",
    403: "hmac_user does not allow that; use Metal-Edit or Metal-Admin, or a token of the project",
    404: "it is not there any more; run again to read what there is now",
    409: "somebody else took or changed it at this moment; run again",
    422: "correct the entry",
    500: "look at the log of metal-api, then run again",
    502: "a proxy gets no answer of metal-api; look whether it runs, then run again",
    503: "it is busy or starting; look whether metal-api runs, then run again",
    504: "a proxy gets no answer of metal-api in time; look whether it runs, then run again",
}


class MetalError(ReportedError):
    """metal-api refused a request or could not be asked.

    :param message: one sentence
    :param status: HTTP status code, or None when no answer came
    :param reason: ``Unreachable`` (never sent), ``Lost`` (sent, and the answer did not come), ``Once`` (the same, of
        what must not be done twice), ``Early`` (refused, and due in a moment), ``Configuration``, ``Answer`` or None
    """

    def __init__(self, message: str, status: int | None = None, reason: str | None = None) -> None:
        message = plain(message, keep_lines=True)
        super().__init__(message)
        self.message = message
        self.status = status
        self.reason = reason

    @property
    def retriable(self) -> bool:
        """True when the same request may succeed later; one that allocates needs a look first."""
        return self.reason != "Once" and (
            self.reason in ("Unreachable", "Lost", "Early") or self.status in (409, 429, 502, 503, 504))

    @property
    def is_undecided(self) -> bool:
        """True when nobody knows whether the request was carried out: no answer came, or a proxy waited for none."""
        return self.reason == "Lost" or self.status in (502, 504)

    @property
    def passes(self) -> bool:
        """True when a wait goes on in spite of it."""
        return self.reason in ("Unreachable", "Lost") or self.status in (429, 500, 502, 503, 504)


def error_from_answer(status: int, content: bytes, subject: str, secrets: Iterable[str] = ()) -> MetalError:
    """Return the error of an answer.

    :param status: HTTP status code
    :param content: the answer, by metal-api's rule ``{"statuscode", "message"}``
    :param subject: what was asked for, as the user names it
    :param secrets: what an answer may quote of the request, and no message shows
    """
    text = content[:_LONGEST_FAULT * 4].decode("utf-8", "replace")
    try:
        answer = from_json(text)
        fault = str(answer["message"]) if isinstance(answer, dict) and answer.get("message") else ""
    except ValueError:
        fault = ""
    fault = str(quoted_secrets.without_secrets(" ".join(fault.split()), [text for text in secrets if text]))
    fault = cut(fault, _LONGEST_FAULT) or "no message of metal-api"
    advice = _ADVICE.get(status)
    return MetalError(f"{subject}: metal-api answers {status}: {fault}{'; ' + advice if advice else ''}", status)
