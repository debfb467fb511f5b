#include "app/report/html.h"

#include <fmt/format.h>

#include "app/report/style.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/lower_case.h"
#include "pipeline/core/printable.h"
#include "pipeline/results/format.h"

namespace lookout {

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

bool is_html(const std::string& file) { return lower_case_extension(file) == ".html"; }

std::string to_html(const std::vector<Tile>& tiles) {
  std::string out = "<dl class=\"tiles\">\n";
  for (const Tile& tile : tiles) {
    append_format(out, "<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>\n", escaped(tile.name),
                  escaped(tile.value), escaped(tile.note));
  }
  return out + "</dl>\n";
}

std::string to_html(const Table& table) {
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\"><table class=\"numbers\">\n<caption>{}</caption>\n"
      "<thead><tr>",
      escaped(table.caption));
  for (const std::string& name : table.head) {
    append_format(out, "<th scope=\"col\">{}</th>", escaped(name));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const Row& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      append_format(out, i == 0 ? "<th scope=\"row\">{}</th>" : "<td>{}</td>", escaped(row[i]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

Row row_of(const std::string& stage, const Percentiles& percentiles) {
  Row row{stage};
  for (const auto& [name, time] : named(percentiles)) {
    row.push_back(fmt::format("{:.1f}", to_ms(time)));
  }
  return row;
}

std::string to_html(const Facts& facts) {
  std::string out = "<dl class=\"facts\">\n";
  for (const auto& [name, value] : facts) {
    if (value.empty()) continue;
    append_format(out, "<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
  }
  return out + "</dl>\n";
}

std::string details(const std::string& summary, const std::string& html) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(summary), html);
}

std::string to_html(Table table, std::size_t shown) {
  if (table.rows.size() <= shown) return to_html(table);
  Table others{"The others", table.head, {}};
  const auto first = table.rows.begin() + static_cast<std::ptrdiff_t>(shown);
  others.rows.assign(first, table.rows.end());
  table.rows.erase(first, table.rows.end());
  return to_html(table) + details(fmt::format("{} more", others.rows.size()), to_html(others));
}

Page::Page(const std::string& kind, const std::string& title, const std::string& note)
    : head_(
          fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                      "<title>{0}: {1}</title>\n<style>{2}</style>\n</head>\n<body>\n"
                      "<header><p class=\"kind\">{0}</p>\n<h1>{1}</h1>\n<p>{3}</p></header>\n",
                      escaped(kind), escaped(title), kStyle, escaped(note))) {}

void Page::add_top(const std::string& html) { top_ += html; }

void Page::add_verdict(const std::string& text) {
  top_ += fmt::format("<p class=\"verdict\">{}</p>\n", escaped(text));
}

void Page::add_warning(const std::string& text) {
  top_ += fmt::format("<p class=\"warning\">{}</p>\n", escaped(text));
}

void Page::add_part(const std::string& title, const std::string& note, const std::string& html,
                    Width width) {
  append_format(parts_, "<section{}>\n<h2>{}</h2>\n",
                width == Width::kFull ? " class=\"full\"" : "", escaped(title));
  if (!note.empty()) {
    append_format(parts_, "<p class=\"note\">{}</p>\n", escaped(note));
  }
  parts_ += html + "</section>\n";
}

std::string Page::to_html(const std::string& footer) const {
  return fmt::format(
      "{}<main>\n{}<div class=\"parts\">\n{}</div>\n</main>\n<footer>{}</footer>\n"
      "</body>\n</html>\n",
      head_, top_, parts_, escaped(footer));
}

}  // namespace lookout
