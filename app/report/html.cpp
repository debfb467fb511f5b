// A report as one HTML page that needs nothing else: no script, no file, no network. It follows the
// reader's light or dark scheme and fits phones, wide screens and paper.
#include "app/report/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/report/style.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/printable.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

// The rows from `first` to `last`.
std::string table_html(const Table& table, const std::string& caption, std::size_t first,
                       std::size_t last) {
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\"><table class=\"numbers\">\n<caption>{}</caption>\n"
      "<thead><tr>",
      escaped(caption));
  for (const Column& column : table.head) {
    if (!is_shown(column.shown, ReportFormat::kHtml)) continue;
    append_format(out, "<th scope=\"col\">{}</th>", escaped(column.name));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t n = first; n < last; ++n) {
    const char* cell = "<th scope=\"row\">{}</th>";
    out += "<tr>";
    for (std::size_t i = 0; i < table.head.size(); ++i) {
      if (!is_shown(table.head[i].shown, ReportFormat::kHtml)) continue;
      append_format(out, cell, escaped(table.rows[n].at(i)));
      cell = "<td>{}</td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string details(const std::string& summary, const std::string& html) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(summary), html);
}

struct HtmlWriter {
  std::string operator()(const Table& table) const { return to_html(table); }
  std::string operator()(const Facts& facts) const {
    std::string out = "<dl class=\"facts\">\n";
    for (const auto& [name, value] : facts) {
      if (value.empty()) continue;
      append_format(out, "<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
    }
    return out + "</dl>\n";
  }
  std::string operator()(const Statements& statements) const { return (*this)(statements.facts); }
  std::string operator()(const Lines& lines) const {
    std::string out;
    for (const std::string& line : lines.lines) append_format(out, "<p>{}</p>\n", escaped(line));
    return out;
  }
  std::string operator()(const List& list) const {
    std::string out = "<ul>\n";
    for (const std::string& item : list.items) append_format(out, "<li>{}</li>\n", escaped(item));
    return out + "</ul>\n";
  }
  std::string operator()(const Chart& chart) const { return chart.html; }
};

// Above all parts.
std::string top_of(const Report& report) {
  std::string out;
  if (!report.verdict.empty()) {
    append_format(out, "<p class=\"verdict\">{}</p>\n", escaped(report.verdict));
  }
  if (!report.tiles.empty() && is_shown(report.tiles_shown, ReportFormat::kHtml)) {
    out += "<dl class=\"tiles\">\n";
    for (const auto& [name, value, note] : report.tiles) {
      append_format(out, "<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>\n", escaped(name),
                    escaped(value), escaped(note));
    }
    out += "</dl>\n";
  }
  for (const std::string& warning : report.warnings) {
    append_format(out, "<p class=\"warning\">{}</p>\n", escaped(warning));
  }
  return out;
}

std::string html_of(const Part& part) {
  std::string blocks;
  for (const auto& [content, shown] : part.blocks) {
    if (is_shown(shown, ReportFormat::kHtml)) blocks += std::visit(HtmlWriter(), content);
  }
  if (blocks.empty()) return {};
  return fmt::format(
      "<section{}>\n<h2>{}</h2>\n{}{}</section>\n",
      part.width == Width::kFull ? " class=\"full\"" : "", escaped(part.title),
      part.note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", escaped(part.note)),
      blocks);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string to_html(const Table& table) {
  if (!table.folded.empty()) {
    Table open = table;
    open.folded.clear();
    return details(table.folded, to_html(open));
  }
  const std::size_t shown = std::min(table.shown, table.rows.size());
  std::string out = table_html(table, table.caption, 0, shown);
  if (shown == table.rows.size()) return out;
  return out + details(fmt::format("{} more", table.rows.size() - shown),
                       table_html(table, "The others", shown, table.rows.size()));
}

Row row_of(const std::string& stage, const Percentiles& percentiles) {
  Row row{stage};
  for (const auto& [name, time] : named(percentiles)) {
    row.push_back(fmt::format("{:.1f}", to_ms(time)));
  }
  return row;
}

std::string to_html(const Report& report, const std::string& made_by) {
  std::string parts;
  for (const Part& part : report.parts) parts += html_of(part);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<title>{0}: {1}</title>\n<style>{2}</style>\n</head>\n<body>\n"
      "<header><p class=\"kind\">{0}</p>\n<h1>{1}</h1>\n<p>{3}</p></header>\n"
      "<main>\n{4}<div class=\"parts\">\n{5}</div>\n</main>\n<footer>{6}</footer>\n"
      "</body>\n</html>\n",
      escaped(report.kind), escaped(report.title), kStyle, escaped(report.note), top_of(report),
      parts, escaped(made_by));
}

}  // namespace lookout
