"""Determines who sends a request over HTTP, and what that principal may use.

A request passes `bearer` (the token in its headers) → `verifier` (syntax in `tokens`, keys in
`keys` and `issuer`, claims in `claims`) → `grants` (scopes become toolsets and plugins) →
`allowances` (pace, requests in flight, calls a day). `challenges` writes the headers of refusals,
and `roots` decides where the files of a principal are.

Importing this package is cheap; PyJWT is imported when a server with identity starts.
"""

from __future__ import annotations
