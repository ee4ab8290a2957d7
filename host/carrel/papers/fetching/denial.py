"""Words the failure of a download in the closed codes of papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from carrel.exchange import Call, Failure, FailureKind, Response
from carrel.papers.errors import PaperCode, PaperError

from .host_lists import is_blocked

#: The denial reason of the contract → of papers, for those that the list of hosts decides.
_REASONS: Final = {
    "host_not_declared": "redirect_not_in_allowlist",
    "host_not_granted": "redirect_not_in_allowlist",
    "method_not_allowed": "redirect_not_in_allowlist",
    "path_not_allowed": "redirect_not_in_allowlist",
    "insecure_scheme": "insecure_scheme",
    "private_address": "ssrf_private_address",
    "ip_literal": "ssrf_private_address",
}
_CODES: Final[dict[FailureKind, PaperCode]] = {
    FailureKind.TIMEOUT: "FETCH_TIMEOUT",
    FailureKind.RATE_LIMITED: "RATE_LIMITED",
}


def failed_download(failure: Failure, *, kind: str, hosts: Sequence[str], call: Call) -> PaperError:
    """Returns the error of a download without a response.

    Args:
        failure: how it ended.
        kind: of the copy, such as `oa-publisher`.
        hosts: that the copy may be downloaded from.
        call: of this download alone; its attempts record the redirects.
    """
    reason = _REASONS.get(failure.reason)
    if failure.kind is not FailureKind.DENIED or reason is None:
        return PaperError(_CODES.get(failure.kind, "NETWORK_ERROR"), failure.message)
    host = urlsplit(failure.url).hostname or ""
    if reason == "redirect_not_in_allowlist" and is_blocked(host):
        reason = "host_in_block_list"
    context: dict[str, Any] = {"reason": reason, "source": kind, "attempted": host}
    if reason == "insecure_scheme":
        context |= {"attempted": failure.url, "expected": ["https"]}
    elif reason == "redirect_not_in_allowlist":
        context["expected"] = list(hosts)
    if reason != "ssrf_private_address":
        context["hop_index"] = _redirects(call)
    return PaperError("CAPABILITY_DENIED", _worded(reason, host, kind, failure), denial=context)


def refused_status(response: Response) -> PaperError:
    """Returns the error of a response whose status is not a success."""
    host = urlsplit(response.url).hostname or ""
    if response.status in {404, 410, 451}:
        return PaperError("NETWORK_ERROR", f"{host} has no such file (status {response.status})")
    if response.status in {401, 403}:
        reason = f"{host} does not give the file to programs or to everybody"
        return PaperError("NETWORK_ERROR", f"{reason} (status {response.status})")
    return PaperError("NETWORK_ERROR", f"{host} answers with status {response.status}")


def remediation(error: PaperError) -> list[dict[str, str]]:
    """Returns the settings that would permit a denied download; none for most errors."""
    denial = error.denial or {}
    if denial.get("reason") != "redirect_not_in_allowlist":
        return []
    names = {"oa-repository": "repository_hosts", "oa-publisher": "publisher_hosts"}
    setting = names.get(str(denial.get("source")))
    if setting is None or not denial.get("attempted"):
        return []
    host = str(denial["attempted"])
    return [
        {
            "kind": "additional_host",
            "value": host,
            "note": f'papers.{setting} += ["{host}"] permits downloads from this host',
        }
    ]


def _worded(reason: str, host: str, kind: str, failure: Failure) -> str:
    match reason:
        case "redirect_not_in_allowlist":
            return f"{host} is not on the list of hosts for {kind} copies"
        case "host_in_block_list":
            return f"{host} is on the block list"
        case "ssrf_private_address":
            return f"{host or 'the copy'} has no public address"
    return failure.message


def _redirects(call: Call) -> int:
    return sum(str(attempt.get("outcome", "")).startswith("status 3") for attempt in call.attempts)
