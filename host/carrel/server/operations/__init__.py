"""Shows a running server to its operator: health, metrics, traces, logs, audit, a page.

Read `operations` first: it is one server's observer and holds the rest. Counting: `catalogue`
(every metric), `exposition` (families and Prometheus' text), `process` (memory and processor time).
Each call: `live_calls`, `request_facts`, `traces`. Lines: `json_log`, `redaction`, `audit`. Over
HTTP: `routes` → `readiness`, `status`, `page`; `metrics_listener` for metrics on an own address.

Pages: docs/how-to/operate.md, docs/reference/metrics.md, docs/decisions/0058-operations.md.
"""
