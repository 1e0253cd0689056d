"""What the report's page adds to the shell's style: dark on white everywhere, and on paper."""

STYLE = """
:root { color-scheme: light; }
@media (prefers-color-scheme: dark) { :root { --ink: #1f2933; --pale: #5a6573; --line: #d8dee6;
  --back: #ffffff; --card: #f6f8fa; --mark: #0b6fa4; } }
body { max-width: 66rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
h3 { font-size: 1.05rem; margin-top: 1.8rem; }
#summary { border-left: 4px solid var(--mark); background: var(--card); padding: .3rem 1rem; }
nav ul { columns: 15rem; padding-left: 1.2rem; }
a { color: var(--mark); }
td, th { text-align: right; vertical-align: top; }
th { font-weight: 600; vertical-align: bottom; }
td:first-child, th:first-child, .left, td:last-child.left, th:last-child.left { text-align: left; }
td:last-child, th:last-child { text-align: right; white-space: nowrap; min-width: 0; }
table { width: auto; font-size: .84rem; font-variant-numeric: tabular-nums; }
td.sure { font-weight: 650; }
td.words, td.words:last-child { white-space: pre-wrap; text-align: left; min-width: 12rem;
  max-width: 30rem; overflow-wrap: anywhere; }
figure { margin: 1.2rem 0; }
figure svg { width: auto; max-width: 100%; min-width: 34rem; }
figcaption { color: var(--pale); font-size: .9rem; max-width: 54rem; }
.case { border: 1px solid var(--line); border-radius: 6px; padding: .4rem 1rem 1rem;
  margin: .8rem 0; break-inside: avoid; }
.case-head, .who { font-weight: 600; margin: .5rem 0; overflow-wrap: anywhere; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr));
  gap: 1.2rem; }
.pick svg { max-width: 100%; height: auto; }
.case .text { font-size: .9rem; line-height: 1.45; }
.scorer { margin: .4rem 0 0; }
@media print { body { max-width: none; font-size: 10pt; padding: 0; }
  .wide { overflow: visible; } figure, table { break-inside: avoid; } nav { display: none; }
  figure svg { min-width: 0; } details::details-content { content-visibility: visible;
  display: block; } table { font-size: 7pt; } }
"""
