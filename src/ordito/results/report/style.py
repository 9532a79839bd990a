"""How a report looks: light and dark as the reader's system, and on paper."""

from __future__ import annotations

import base64
import hashlib

STYLE = """
:root { color-scheme: light dark; --page: #fff; --text: #1c2024; --dim: #5c636b; --line: #d7dbe0; --soft: #f5f6f8;
  --ok: #2c974b; --bad: #c9302c; --run: #2166c4; --wait: #9a6700; --none: #9aa1a9; --bad-soft: #fdf0ef; }
@media (prefers-color-scheme: dark) { :root { --page: #14171a; --text: #e4e7ea; --dim: #9ba3ab; --line: #31373d;
  --soft: #1c2024; --ok: #3fb965; --bad: #f06a63; --run: #5a9bf0; --wait: #d6a42a; --none: #6b737b;
  --bad-soft: #2a1a1a; } }
* { box-sizing: border-box; }
html { background: var(--page); color: var(--text); }
body { margin: 0 auto; max-width: 1180px; padding: 28px 24px 60px; font: 14px/1.5 system-ui, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
h1 { font-size: 22px; line-height: 1.25; margin: 0; }
h2 { font-size: 16px; margin: 36px 0 10px; padding-bottom: 5px; border-bottom: 1px solid var(--line); }
h3 { font-size: 14px; margin: 0; }
p { margin: 6px 0; }
a { color: var(--run); }
.dim { color: var(--dim); }
.status { display: inline-block; margin-left: 10px; padding: 1px 10px; border: 1px solid currentColor;
  border-radius: 12px; font-size: 13px; font-weight: 600; vertical-align: 3px; }
.ok-text { color: var(--ok); } .bad-text { color: var(--bad); } .run-text { color: var(--run); }
.wait-text { color: var(--wait); }
dl { display: grid; grid-template-columns: max-content 1fr max-content 1fr; gap: 3px 18px; margin: 16px 0 0; }
dt { color: var(--dim); } dd { margin: 0; }
nav { margin-top: 16px; } nav a { margin-right: 16px; }
.numbers { display: flex; flex-wrap: wrap; gap: 8px 26px; margin: 16px 0 0; padding: 0; list-style: none; }
.numbers b { font-size: 18px; margin-right: 5px; }
.card { border: 1px solid var(--line); border-left: 3px solid var(--bad); border-radius: 5px; padding: 10px 14px;
  margin: 10px 0; background: var(--bad-soft); break-inside: avoid; }
.card pre { background: var(--page); }
pre { margin: 8px 0 0; padding: 10px 12px; border: 1px solid var(--line); border-radius: 4px; background: var(--soft);
  font: 12px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 460px;
  overflow: auto; }
code { font: 12px/1.45 ui-monospace, monospace; }
.scroll { overflow: auto; max-height: 900px; border: 1px solid var(--line); border-radius: 5px; padding: 8px; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; color: var(--dim); font-weight: 500; }
th, td { padding: 4px 14px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr { break-inside: avoid; }
.op { white-space: nowrap; margin-right: 12px; display: inline-block; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 8px 0; color: var(--dim); font-size: 13px; }
.legend b { color: var(--text); font-weight: 600; }
svg { display: block; max-width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: var(--text); }
svg .title { font-size: 13px; font-weight: 600; } svg .type, svg .tick { fill: var(--dim); }
svg .bad-text { fill: var(--bad); font-weight: 600; }
svg.topology { max-width: none; }
.box { fill: var(--page); stroke: var(--line); stroke-width: 1.2; } .box.host { fill: var(--soft); }
.edge { fill: none; stroke: var(--none); stroke-width: 1.1; } .arrow { fill: var(--none); }
svg .edge-label { font-size: 10px; fill: var(--dim); paint-order: stroke; stroke: var(--page); stroke-width: 3px; }
.dot { stroke: none; } .cross { fill: none; stroke: var(--bad); stroke-width: 2.4; }
.ok { fill: var(--ok); } .bad { fill: var(--bad); } .run { fill: var(--run); } .wait { fill: var(--wait); }
.none { fill: var(--none); } .dot.none { fill: var(--line); }
.dot.hollow { fill: none; stroke: var(--dim); stroke-width: 1.4; }
.grid { stroke: var(--line); stroke-width: 1; } .load { fill: var(--run); fill-opacity: 0.22; stroke: var(--run); }
.critical { fill: var(--text); }
footer { margin-top: 44px; color: var(--dim); font-size: 12px; }
@media (max-width: 640px) { dl { grid-template-columns: max-content 1fr; } }
@media print { :root { --page: #fff; --text: #000; --dim: #444; --line: #bbb; --soft: #f6f6f6; --ok: #1f7a39;
  --bad: #b3231f; --run: #1d57a8; --wait: #7d5500; --none: #888; --bad-soft: #fff; }
  body { max-width: none; padding: 0; font-size: 11px; } nav { display: none; }
  pre, .scroll { max-height: none; overflow: visible; } svg.topology { max-width: 100%; } h2 { break-after: avoid; } }
"""

DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

POLICY = f"default-src 'none'; style-src 'sha256-{DIGEST}'; base-uri 'none'; form-action 'none'"
"""The policy of the page: it loads nothing, runs nothing, and has no other style than this one."""
