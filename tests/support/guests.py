"""Makes guests for tests: components of the contract from a few lines of WAT."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import wasmtime

_TEMPLATE = r"""
(component
  %(imports)s
  (core module $libc
    (memory (export "memory") %(pages)d)
    (global $heap (mut i32) (i32.const 65536))
    (func (export "realloc") (param i32 i32 i32) (param $n i32) (result i32)
      (local $p i32)
      (if (i32.and (i32.ne (local.get 0) (i32.const 0)) (i32.le_u (local.get $n) (local.get 1)))
        (then (return (local.get 0))))
      (local.set $p (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
      (global.set $heap (i32.add (local.get $p) (local.get $n)))
      (block $enough
        (br_if $enough (i32.le_u (global.get $heap)
                                 (i32.mul (memory.size) (i32.const 65536))))
        (br_if $enough (i32.ne (i32.const -1)
          (memory.grow (i32.add (i32.const 1) (i32.shr_u (local.get $n) (i32.const 16))))))
        unreachable)
      (local.get $p)))
  (core instance $libc (instantiate $libc))
  %(lowered)s
  (core module $m
    (import "libc" "memory" (memory 1))
    (import "libc" "realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
    %(core_imports)s
    (data (i32.const 1024) "%(result)s")
    (data (i32.const 32768) "%(manifest)s")
    %(data)s
    (func (export "describe") (result i32)
      (i32.store (i32.const 0) (i32.const 32768))
      (i32.store (i32.const 4) (i32.const %(manifest_length)d))
      (i32.const 0))
    ;; Leaves the result at 0: a result<string, string> is a byte, then pointer and length.
    (func $ok (result i32)
      (i32.store8 (i32.const 0) (i32.const %(failed)d))
      (i32.store (i32.const 4) (i32.const 1024))
      (i32.store (i32.const 8) (i32.const %(result_length)d))
      (i32.const 0))
    %(functions)s
    (func $run (param $tool i32) (param $tool_length i32) (param $text i32)
        (param $text_length i32) (result i32)
      (local $i i32)
      %(body)s
      (call $ok))
    (export "call" (func $run))
    (export "parse" (func $run))
    %(parse_bytes)s)
  (core instance $i (instantiate $m (with "libc" (instance $libc)) %(with)s))
  (func $describe (result string)
    (canon lift (core func $i "describe") (memory (core memory $libc "memory"))))
  (func $call (param "tool" string) (param "arguments" string)
      (result (result string (error string)))
    (canon lift (core func $i "call") (memory (core memory $libc "memory"))
      (realloc (core func $libc "realloc"))))
  (func $parse (param "format" string) (param "document" string)
      (result (result string (error string)))
    (canon lift (core func $i "parse") (memory (core memory $libc "memory"))
      (realloc (core func $libc "realloc"))))
  (instance $source
    (export "describe" (func $describe))
    (export "call" (func $call))
    (export "parse" (func $parse)))
  (export "carrel:plugin/source@%(version)s" (instance $source))
  %(documents)s)
"""

#: The contract's optional interface; `guest(reading=…)` includes it.
_DOCUMENTS = r"""
  (func $parse_bytes (param "format" string) (param "document" (list u8)) (param "options" string)
      (result (result string (error string)))
    (canon lift (core func $i "parse-bytes") (memory (core memory $libc "memory"))
      (realloc (core func $libc "realloc"))))
  (instance $documents (export "parse-bytes" (func $parse_bytes)))
  (export "carrel:plugin/documents@1.0.0" (instance $documents))
"""
_PARSE_BYTES = r"""
    (func (export "parse-bytes") (param $format i32) (param $format_length i32)
        (param $document i32) (param $length i32)
        (param $options i32) (param $options_length i32) (result i32)
      (local $i i32) (local $n i32)
      %s
      (call $ok))
"""
#: Counts the bytes that differ from `pattern`; from its seven-bit variant if there are options.
CHECK_PATTERN = r"""
      (local $mask i32)
      (local.set $mask (select (i32.const 0x7f) (i32.const 0xff)
        (i32.gt_u (local.get $options_length) (i32.const 2))))
      (block $end
        (loop $next
          (br_if $end (i32.ge_u (local.get $i) (local.get $length)))
          (if (i32.ne
                (i32.load8_u (i32.add (local.get $document) (local.get $i)))
                (i32.and (local.get $mask)
                  (i32.add (i32.mul (local.get $i) (i32.const 167))
                           (i32.mul (i32.shr_u (local.get $i) (i32.const 8)) (i32.const 13)))))
            (then (local.set $n (i32.add (local.get $n) (i32.const 1)))))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br $next)))
      (call $hex (i32.const 1033) (local.get $length))
      (call $hex (i32.const 1052) (local.get $n))
"""
#: Writes a number as eight hexadecimal digits.
HEX = r"""
    (func $hex (param $at i32) (param $number i32)
      (local $i i32) (local $digit i32)
      (loop $next
        (local.set $digit (i32.and (i32.const 15) (i32.shr_u (local.get $number)
          (i32.sub (i32.const 28) (i32.shl (local.get $i) (i32.const 2))))))
        (i32.store8 (i32.add (local.get $at) (local.get $i))
          (i32.add (local.get $digit)
            (select (i32.const 87) (i32.const 48) (i32.gt_u (local.get $digit) (i32.const 9)))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $i) (i32.const 8)))))
"""
#: The result that `CHECK_PATTERN` fills in.
CHECKED = '{"size":"00000000","wrong":"00000000"}'

#: The contract's http interface; `guest(fetching=True)` includes it.
_HTTP = r"""
  (import "carrel:plugin/http@1.0.0" (instance $http
    (type $method_ (enum "get" "head" "post"))
    (export "method" (type $method (eq $method_)))
    (type $cache_ (enum "default" "refresh"))
    (export "cache-mode" (type $cache (eq $cache_)))
    (type $header_ (record (field "name" string) (field "value" string)))
    (export "header" (type $header (eq $header_)))
    (type $request_ (record (field "method" $method) (field "url" string)
      (field "headers" (list $header)) (field "body" string) (field "cache" $cache)))
    (export "request" (type $request (eq $request_)))
    (type $response_ (record (field "status" u16) (field "url" string)
      (field "headers" (list $header)) (field "body" string)))
    (export "response" (type $response (eq $response_)))
    (type $denial_ (record (field "reason" string) (field "grant" string)))
    (export "denial" (type $denial (eq $denial_)))
    (type $pause_ (record (field "seconds" f64)))
    (export "pause" (type $pause (eq $pause_)))
    (type $detail_ (record (field "number" u64)))
    (export "detail" (type $detail (eq $detail_)))
    (type $error_ (variant (case "denied" $denial) (case "timeout" $detail)
      (case "rate-limited" $pause) (case "too-large" $detail) (case "unreachable" $detail)
      (case "undecodable" $detail)))
    (export "fetch-error" (type $error (eq $error_)))
    (type $failure_ (record (field "url" string) (field "error" $error)
      (field "message" string)))
    (export "fetch-failure" (type $failure (eq $failure_)))
    (export "fetch" (func (param "request" $request)
      (result (result $response (error $failure)))))
    (export "fetch-all" (func (param "requests" (list $request))
      (result (list (result $response (error $failure))))))%(discard)s))
"""

_LOWERED = r"""
  (core func $fetch (canon lower (func $http "fetch") (memory (core memory $libc "memory"))
    (realloc (core func $libc "realloc"))))
  (core func $fetch_all (canon lower (func $http "fetch-all")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core instance $host (export "fetch" (func $fetch)) (export "fetch-all" (func $fetch_all)))
"""
_DISCARD = """
    (export "discard" (func (param "request" $request)))"""
_DISCARD_LOWERED = r"""
  (core func $discarding (canon lower (func $http "discard")
    (memory (core memory $libc "memory"))))
  (core instance $discards (export "discard" (func $discarding)))
"""
_DISCARD_CORE_IMPORTS = r"""
    (import "discards" "discard" (func $discarding (param i32 i32 i32 i32 i32 i32 i32 i32)))
"""
_DISCARDER = r"""
    (func $discard (param $url i32) (param $length i32)
      (call $discarding (i32.const 0) (local.get $url) (local.get $length)
        (i32.const 8) (i32.const 0) (i32.const 8) (i32.const 0) (i32.const 0)))
"""
_CORE_IMPORTS = r"""
    (import "host" "fetch" (func $fetch (param i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "host" "fetch-all" (func $fetch_all (param i32 i32 i32)))
"""
#: The contract's other interfaces; `guest(reporting=True)` includes them.
_REPORTING = r"""
  (import "carrel:plugin/log@1.0.0" (instance $log
    (type $level_ (enum "debug" "info" "warn" "error"))
    (export "level" (type $level (eq $level_)))
    (export "write" (func (param "level" $level) (param "message" string)))))
  (import "carrel:plugin/progress@1.0.0" (instance $progress
    (export "report" (func (param "done" u64) (param "total" u64) (param "message" string)))))
  (import "carrel:plugin/config@1.0.0" (instance $config
    (export "get" (func (param "key" string) (result string)))))
"""
_REPORTING_LOWERED = r"""
  (core func $write (canon lower (func $log "write") (memory (core memory $libc "memory"))))
  (core func $report (canon lower (func $progress "report")
    (memory (core memory $libc "memory"))))
  (core func $setting (canon lower (func $config "get") (memory (core memory $libc "memory"))
    (realloc (core func $libc "realloc"))))
  (core instance $reports (export "write" (func $write)) (export "report" (func $report))
    (export "setting" (func $setting)))
"""
_REPORTING_CORE_IMPORTS = r"""
    (import "reports" "write" (func $write (param i32 i32 i32)))
    (import "reports" "report" (func $report (param i64 i64 i32 i32)))
    (import "reports" "setting" (func $setting (param i32 i32 i32)))
"""
_GETTERS = r"""
    (func $get (param $url i32) (param $length i32) (result i32)
      (call $fetch (i32.const 0) (local.get $url) (local.get $length)
        (i32.const 8) (i32.const 0) (i32.const 8) (i32.const 0) (i32.const 0) (i32.const 64))
      (i32.load8_u (i32.const 64)))
    (func $get_all (param $list i32) (param $length i32) (result i32)
      (call $fetch_all (local.get $list) (local.get $length) (i32.const 64))
      (i32.load (i32.const 64)))
"""


@dataclass(frozen=True)
class Guest:
    """A component and its digest."""

    wasm: bytes
    digest: str


def assemble(wat: str) -> Guest:
    """Returns a guest from any WAT."""
    wasm = bytes(wasmtime.wat2wasm(wat))
    return Guest(wasm, hashlib.sha256(wasm).hexdigest())


def guest(body: str = "", **parts: Any) -> Guest:
    """Returns a guest of `guest_wat`."""
    return assemble(guest_wat(body, **parts))


def guest_wat(
    body: str = "",
    *,
    result: str = "{}",
    failed: bool = False,
    manifest: str = "{}",
    functions: str = "",
    data: str = "",
    pages: int = 2,
    imports: str = "",
    fetching: bool = False,
    discarding: bool = False,
    reporting: bool = False,
    reading: str | None = None,
    version: str = "1.0.0",
) -> str:
    """Returns a guest whose `call` and `parse` run `body` and then return `result`, as text.

    Args:
        body: WAT; `$text` and `$text_length` are the arguments or document, `$i` is a spare local,
            `(call $ok)` leaves the result. It may `return` an address of its own.
        result: at most 31 KiB.
        failed: return `result` as the plugin's error.
        manifest: what `describe` returns.
        functions: further core functions.
        data: further data segments; memory below 64 KiB is the test's.
        imports: of the component.
        fetching: import the contract's http interface. `(call $get (url) (length))` fetches and
            leaves 0 for a response and 1 for a failure; `(call $get_all (list) (length))` makes
            many requests and leaves where the answers are.
        discarding: with `fetching`, import `discard` too: `(call $discard (url) (length))`.
        reporting: import log, progress and config: `(call $write (level) (text) (length))`,
            `(call $report (done) (total) (text) (length))`, `(call $setting (key) (length) (at))`.
        reading: export `documents`, whose `parse-bytes` runs this WAT and then returns `result`;
            `$document`, `$length`, `$options` and `$options_length` are its arguments, `$i` and
            `$n` spare locals.
        version: of the exported interface.
    """
    return _TEMPLATE % {
        "imports": imports
        + (_HTTP % {"discard": _DISCARD if discarding else ""} if fetching else "")
        + (_REPORTING if reporting else ""),
        "core_imports": (_CORE_IMPORTS if fetching else "")
        + (_DISCARD_CORE_IMPORTS if discarding else "")
        + (_REPORTING_CORE_IMPORTS if reporting else ""),
        "pages": pages,
        "result": _escaped(result),
        "result_length": len(result.encode()),
        "manifest": _escaped(manifest),
        "manifest_length": len(manifest.encode()),
        "failed": int(failed),
        "data": data,
        "functions": functions
        + (_GETTERS if fetching else "")
        + (_DISCARDER if discarding else ""),
        "body": body,
        "parse_bytes": "" if reading is None else _PARSE_BYTES % reading,
        "documents": "" if reading is None else _DOCUMENTS,
        "lowered": (_LOWERED if fetching else "")
        + (_DISCARD_LOWERED if discarding else "")
        + (_REPORTING_LOWERED if reporting else ""),
        "with": ('(with "host" (instance $host))' if fetching else "")
        + ('(with "discards" (instance $discards))' if discarding else "")
        + ('(with "reports" (instance $reports))' if reporting else ""),
        "version": version,
    }


def _escaped(text: str) -> str:
    """Returns the text as a WAT string, with `%` escaped for the template."""
    return "".join(f"\\{byte:02x}" for byte in text.encode())


def pattern(size: int, *, ascii_only: bool = False) -> bytes:
    """Returns the bytes that `CHECK_PATTERN` expects: of all values, or of seven bits."""
    mask = 0x7F if ascii_only else 0xFF
    block = bytes((167 * low + 13 * high) & mask for high in range(256) for low in range(256))
    return (block * (size // len(block) + 1))[:size]


def checking_guest(**parts: Any) -> Guest:
    """Returns a guest that counts the bytes that it got, and those that differ from `pattern`."""
    return guest(result=CHECKED, reading=CHECK_PATTERN, functions=HEX, **parts)
