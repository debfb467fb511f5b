#include "app/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "pipeline/core/append_format.h"
#include "pipeline/core/json_text.h"
#include "pipeline/core/printable.h"
#include "platform/reporters/terminal.h"

namespace lookout {
namespace {

constexpr std::size_t kMinColumn = 8;  // of a text that is shortened
constexpr std::size_t kMinName = 15;   // columns of the names of facts

// The rows of a table as a format shows them, with its head first.
std::vector<Row> shown_rows(const Table& table, ReportFormat format) {
  const bool text = format == ReportFormat::kText;
  const std::size_t count = text ? std::min(table.rows.size(), table.shown) : table.rows.size();
  std::vector<Row> rows(count + 1);
  for (std::size_t i = 0; i < table.head.size(); ++i) {
    if (!is_shown(table.head[i].shown, format)) continue;
    rows.front().push_back(printable(table.head[i].name));
    for (std::size_t n = 0; n < count; ++n) {
      rows[n + 1].push_back(printable(table.rows[n].at(i)));
    }
  }
  return rows;
}

// ---- Text

struct TextColumn {
  bool left = false;
  std::size_t width = 0;
};

std::string shortened(const std::string& text, std::size_t columns) {
  if (columns_of(text) <= columns) return text;
  return std::string(cut(text, columns - 1)) + "…";
}

// Breaks a name at spaces, into lines of `width` columns, which is at least that of its words.
std::vector<std::string> broken(std::string_view name, std::size_t width) {
  std::vector<std::string> lines{""};
  while (!name.empty()) {
    const std::string_view word = name.substr(0, name.find(' '));
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (columns_of(line) + 1 + columns_of(word) <= width) {
      line += fmt::format(" {}", word);
    } else {
      lines.emplace_back(word);
    }
    name.remove_prefix(std::min(name.size(), word.size() + 1));
  }
  return lines;
}

void append_row(const Row& cells, const std::vector<TextColumn>& columns, std::string& out) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string text = shortened(cells[i], columns[i].width);
    const bool last = i + 1 == cells.size();
    const std::string pad(last && columns[i].left ? 0 : columns[i].width - columns_of(text), ' ');
    line += (i == 0 ? "" : "  ") + (columns[i].left ? text + pad : pad + text);
  }
  out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

void append_head(const Row& names, const std::vector<TextColumn>& columns, std::string& out) {
  std::vector<std::vector<std::string>> lines;
  std::size_t height = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    lines.push_back(broken(names[i], columns[i].width));
    height = std::max(height, lines.back().size());
  }
  for (std::size_t n = height; n > 0; --n) {
    Row row;
    for (const auto& name : lines) row.push_back(name.size() < n ? "" : name[name.size() - n]);
    append_row(row, columns, out);
  }
}

// Shortens texts where the table then fits into so many columns.
void fit(std::size_t available, std::vector<TextColumn>& columns) {
  std::vector<TextColumn> fitted = columns;
  std::size_t width = 2 * (columns.size() - 1);
  for (const TextColumn& column : columns) width += column.width;
  for (; width > available; --width) {
    const auto widest =
        std::max_element(fitted.begin(), fitted.end(), [](const auto& a, const auto& b) {
          return (a.left ? a.width : 0) < (b.left ? b.width : 0);
        });
    if (widest->width <= kMinColumn) return;
    --widest->width;
  }
  columns = fitted;
}

std::vector<TextColumn> text_columns(const Table& table, const std::vector<Row>& rows) {
  std::vector<TextColumn> columns;
  for (const Column& column : table.head) {
    if (!is_shown(column.shown, ReportFormat::kText)) continue;
    TextColumn made{columns.empty() || column.align == Column::Align::kLeft, 0};
    std::vector<std::string> texts = broken(rows.front()[columns.size()], 0);
    for (std::size_t n = 1; n < rows.size(); ++n) texts.push_back(rows[n][columns.size()]);
    for (const std::string& text : texts) made.width = std::max(made.width, columns_of(text));
    columns.push_back(made);
  }
  return columns;
}

// A text that does not end a cell of a table.
std::string cell_of(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_table(std::vector<Row> rows) {
  rows.insert(rows.begin() + 1, Row(rows.front().size(), "---"));
  std::string out;
  for (const Row& row : rows) {
    out += '|';
    for (const std::string& cell : row) append_format(out, " {} |", cell_of(cell));
    out += '\n';
  }
  return out;
}

// Writes blocks as text or Markdown.
class Writer {
 public:
  Writer(ReportFormat format, std::size_t columns)
      : format_(format), markdown_(format == ReportFormat::kMarkdown), columns_(columns) {}

  std::string operator()(const Table& table) const {
    const std::vector<Row> rows = shown_rows(table, format_);
    if (markdown_) return markdown_table(rows);
    std::vector<TextColumn> columns = text_columns(table, rows);
    if (columns_ > 0) fit(columns_, columns);
    std::string out;
    append_head(rows.front(), columns, out);
    for (std::size_t n = 1; n < rows.size(); ++n) append_row(rows[n], columns, out);
    const std::size_t others = table.rows.size() + 1 - rows.size();
    if (others > 0) append_format(out, "and {} more\n", others);
    return out;
  }
  std::string operator()(const Facts& facts) const {
    std::vector<Row> rows{{"what", "value"}};
    std::size_t width = kMinName;
    for (const auto& [name, value] : facts) {
      if (value.empty()) continue;
      rows.push_back({printable(name), printable(value)});
      width = std::max(width, columns_of(rows.back().front()));
    }
    std::string out;
    if (rows.size() == 1) return out;
    if (markdown_) return markdown_table(rows);
    for (std::size_t n = 1; n < rows.size(); ++n) {
      const std::string pad(width - columns_of(rows[n].front()), ' ');
      append_format(out, "{}{} {}\n", rows[n].front(), pad, rows[n].back());
    }
    return out;
  }
  std::string operator()(const Statements& statements) const {
    std::vector<std::string> lines;
    for (const auto& [name, sentence] : statements.facts) {
      lines.push_back(fmt::format("{}: {}", name, sentence));
    }
    return joined_lines(lines, markdown_ ? "- " : "");
  }
  std::string operator()(const Lines& lines) const { return joined_lines(lines.lines, ""); }
  std::string operator()(const List& list) const { return joined_lines(list.items, "- "); }
  std::string operator()(const Chart& chart) const { return (*this)(chart.figures); }

  void append(const Part& part, std::string& out) const {
    std::string title = printable(part.title);
    for (const auto& [content, shown] : part.blocks) {
      const std::string text = is_shown(shown, format_) ? std::visit(*this, content) : "";
      if (text.empty()) continue;
      const Table* table = std::get_if<Table>(&content);
      std::string head = title;
      if (table != nullptr && !table->caption.empty()) {
        head += (title.empty() ? "" : ": ") + printable(table->caption);
      }
      if (!head.empty() || table != nullptr) out += '\n';
      if (!head.empty()) append_format(out, "{}{}\n", markdown_ ? "## " : "", head);
      if (markdown_ && !title.empty() && !part.note.empty()) {
        append_format(out, "\n{}\n", printable(part.note));
      }
      out += (markdown_ ? "\n" : "") + text;
      title.clear();
    }
  }

 private:
  static std::string joined_lines(const std::vector<std::string>& lines, const char* bullet) {
    std::string out;
    for (const std::string& line : lines) append_format(out, "{}{}\n", bullet, printable(line));
    return out;
  }

  const ReportFormat format_;
  const bool markdown_;
  const std::size_t columns_;
};

Facts facts_of(const Report& report, ReportFormat format) {
  Facts facts;
  if (!is_shown(report.tiles_shown, format)) return facts;
  for (const auto& [name, value, note] : report.tiles) {
    facts.emplace_back(name, fmt::format("{}{}{}", value, note.empty() ? "" : ", ", note));
  }
  return facts;
}

}  // namespace

bool is_shown(Shown shown, ReportFormat format) {
  return (static_cast<unsigned>(shown) >> static_cast<unsigned>(format) & 1U) != 0;
}

std::string to_text(const Report& report, std::size_t columns) {
  const Writer writer(ReportFormat::kText, columns);
  std::string out;
  if (!report.verdict.empty()) append_format(out, "{}\n\n", printable(report.verdict));
  const std::string& note = report.note;
  const std::string title = report.title + (note.empty() ? "" : ": " + note);
  if (!title.empty() || !report.head.empty()) {
    out += writer(Lines{report.head.empty() ? std::vector{title} : report.head});
  }
  out += writer(Lines{report.warnings}) + writer(facts_of(report, ReportFormat::kText));
  for (const Part& part : report.parts) writer.append(part, out);
  return out;
}

std::string to_markdown(const Report& report) {
  const Writer writer(ReportFormat::kMarkdown, 0);
  std::string out = fmt::format("# {}\n\n{}\n", printable(report.kind), printable(report.title));
  for (const std::string& text : {report.note, report.verdict}) {
    if (!text.empty()) append_format(out, "\n{}\n", printable(text));
  }
  for (const std::string& warning : report.warnings) {
    append_format(out, "\n**{}**\n", printable(warning));
  }
  writer.append({"Figures", "", {facts_of(report, ReportFormat::kMarkdown)}}, out);
  for (const Part& part : report.parts) writer.append(part, out);
  return out;
}

std::string to_json(const Report& report) { return to_text(report.json()) + "\n"; }

}  // namespace lookout
