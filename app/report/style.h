// How reports look. The colors of charts differ in lightness, too, so that they can be told apart
// without color: blue for what is right or normal, orange for errors.
#pragma once

namespace lookout {

inline constexpr const char* kStyle = R"css(
:root {
  --back: #f4f5f7; --card: #fff; --ink: #1a1d21; --soft: #59626d; --line: #dfe3e8;
  --blue: #0a66b0; --sky: #6fb1e4; --pale: #cbe2f5; --orange: #c2500a; --track: #e9edf1;
  --navy: #123a5f; --amber: #e5a24f; --gray: #9aa5b1;
  --blue-rgb: 10, 102, 176; --orange-rgb: 214, 94, 0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #111418; --card: #1b2026; --ink: #e9edf1; --soft: #a3adb8; --line: #323a44;
    --blue: #5fb0f0; --sky: #2f79b5; --pale: #1f4668; --orange: #f59a4c; --track: #2a313a;
    --navy: #c4e1fa; --amber: #a9641f; --gray: #66717d;
    --blue-rgb: 76, 164, 236; --orange-rgb: 245, 140, 60;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  -webkit-print-color-adjust: exact; print-color-adjust: exact; }
header, main, footer { max-width: 1200px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 28px; }
header p { margin: 0; color: var(--soft); overflow-wrap: anywhere; }
header .kind { letter-spacing: .08em; text-transform: uppercase; font-size: 12px; font-weight: 600; }
h1 { margin: 0; font-size: 28px; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 0 0 2px; font-size: 17px; }
h3 { margin: 0; font-size: 15px; overflow-wrap: anywhere; }
small, .note, caption, footer, figcaption { color: var(--soft); font-size: 13px; }
.note { margin: 0 0 14px; max-width: 75ch; }
footer { padding-top: 20px; padding-bottom: 32px; overflow-wrap: anywhere; }
.warning { border-left: 4px solid var(--orange); background: var(--card); padding: 10px 14px;
  margin: 16px 0 0; border-radius: 4px; }
.tiles { display: grid; gap: 12px; margin: 20px 0 0;
  grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); }
.tiles div, section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.tiles div { padding: 12px 16px; }
.tiles dt { color: var(--soft); font-size: 13px; }
.tiles dd { margin: 0; font-size: 26px; font-weight: 650; line-height: 1.25;
  font-variant-numeric: tabular-nums; }
.tiles small { display: block; font-weight: 400; line-height: 1.4; overflow-wrap: anywhere; }
.parts { display: grid; gap: 16px; margin-top: 16px; grid-template-columns: repeat(2, minmax(0, 1fr)); }
section { padding: 18px 20px 20px; min-width: 0; }
.full { grid-column: 1 / -1; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
caption { text-align: left; padding-bottom: 6px; }
th, td { padding: 5px 10px 5px 0; text-align: left; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 500; overflow-wrap: break-word; }
thead th { color: var(--soft); font-size: 13px; vertical-align: bottom; overflow-wrap: normal; }
.numbers th:not(:first-child), .numbers td { text-align: right; padding: 5px 0 5px 10px;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; }
.scroll:focus-visible, summary:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
.facts { display: grid; grid-template-columns: fit-content(45%) minmax(0, 1fr); gap: 4px 16px; margin: 0;
  font-size: 14px; }
.facts dt { color: var(--soft); min-width: 90px; overflow-wrap: anywhere; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
details { margin-top: 12px; }
summary { cursor: pointer; color: var(--blue); font-size: 14px; }
details > :not(summary) { margin-top: 8px; }
figure { margin: 0; }
figure + figure { margin-top: 18px; }
svg { display: block; width: 100%; height: auto; max-width: 480px; overflow: visible;
  font-size: 12px; font-variant-numeric: tabular-nums; }
.bars { list-style: none; margin: 0; padding: 0; }
.bars li { display: grid; grid-template-columns: minmax(60%, 1fr) auto; gap: 0 12px; align-items: baseline;
  padding: 4px 0; font-size: 14px; break-inside: avoid; }
.bars span { overflow-wrap: anywhere; }
.bars b { font-weight: 600; font-variant-numeric: tabular-nums; text-align: right; }
.bars svg { grid-column: 1 / -1; height: 18px; max-width: none; }
svg.square { max-width: 360px; }
svg.over-time { max-width: none; height: 190px; margin-bottom: 14px; } svg.over-time.low { height: 84px; }
.verdict { border-left: 4px solid var(--blue); background: var(--card); padding: 12px 16px; font-size: 18px;
  line-height: 1.4; margin: 16px 0 0; border-radius: 4px; }
svg text { fill: var(--ink); } svg .soft { fill: var(--soft); }
svg .axis { stroke: var(--line); } svg .ideal { stroke: var(--soft); stroke-dasharray: 4 4; }
.blue { fill: var(--blue); } .sky { fill: var(--sky); } .pale { fill: var(--pale); }
.orange { fill: var(--orange); } .track { fill: var(--track); }
.navy { fill: var(--navy); } .amber { fill: var(--amber); } .gray { fill: var(--gray); }
.whisker { stroke: var(--ink); stroke-width: 1.5; } .gap { stroke: var(--orange); stroke-width: 2; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 0 0 10px; padding: 0; list-style: none;
  font-size: 13px; color: var(--soft); }
.legend svg { display: inline-block; width: 12px; height: 12px; margin-right: 6px; vertical-align: -1px; }
.matrix { width: auto; font-size: 13px; border-collapse: separate; border-spacing: 2px; }
.matrix th, .matrix td { border: 0; padding: 0; }
.matrix tbody th, .matrix td { vertical-align: middle; }
.matrix td { min-width: 30px; height: 28px; text-align: center; border-radius: 3px;
  font-variant-numeric: tabular-nums; background: var(--track); padding: 0 4px; }
.matrix tbody th { max-width: 210px; padding-right: 8px; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; text-align: right; vertical-align: middle; position: sticky; left: 0;
  background: var(--card); }
.matrix thead td { background: none; }
.matrix thead th { color: var(--ink); font-weight: 500; font-size: 13px; }
.matrix thead span { display: block; writing-mode: vertical-rl; transform: rotate(180deg);
  max-height: 150px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; margin: 0 auto; }
.matrix .diagonal { box-shadow: inset 0 0 0 1px var(--blue); }
.matrix .zero { color: transparent; }
.matrix .right { background: rgba(var(--blue-rgb), var(--share)); }
.matrix .wrong { background: rgba(var(--orange-rgb), var(--share)); }
.matrix .dark { color: #fff; }
@media (prefers-color-scheme: dark) { .matrix .dark { color: #06090c; font-weight: 600; } }
.classes { display: grid; gap: 16px 24px; grid-template-columns: repeat(auto-fill, minmax(min(290px, 100%), 1fr)); }
.class p { margin: 0 0 8px; }
.pictures { display: grid; gap: 8px; grid-template-columns: repeat(3, minmax(0, 1fr)); margin: 0; padding: 0;
  list-style: none; }
.pictures.many { grid-template-columns: repeat(auto-fill, minmax(130px, 1fr)); }
.pictures img { display: block; width: 100%; aspect-ratio: 1; object-fit: cover; border-radius: 6px;
  background: var(--track); }
.pictures figcaption { line-height: 1.35; margin-top: 4px; overflow-wrap: anywhere; }
@media (max-width: 760px) {
  header, main, footer { padding-left: 12px; padding-right: 12px; }
  .parts { grid-template-columns: minmax(0, 1fr); }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  section { padding: 14px; }
  .tiles dd { font-size: 22px; }
  .matrix tbody th { max-width: 120px; }
}
@media print {
  :root { --back: #fff; }
  section, .tiles div, .class { break-inside: avoid; }
  .scroll { overflow: visible; }
}
)css";

}  // namespace lookout
