// The report of a command: a value, and what writes it as text, Markdown, JSON and HTML.
//
// A command makes its report in one function, `Report make_report(const Result&)`, and hands it to
// save_and_print(). What it says is said once there: a table has one list of columns and rows for
// all formats. What only one of them shows is marked with Shown.
//
// Texts may hold anything: the writers escape them. The one exception is Chart::html, which the
// functions in charts.h, picture.h and html.h make.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/options/options.h"
#include "platform/system/atomic_file.h"

namespace lookout {

enum class ReportFormat { kText, kMarkdown, kHtml, kJson };

// Where a block or a column is shown: a bit for each format but JSON.
enum class Shown {
  kText = 1,
  kMarkdown = 2,
  kTexts = 3,
  kHtml = 4,
  kFiles = 6,  // Markdown and HTML
  kEverywhere = 7
};

bool is_shown(Shown shown, ReportFormat format);

// A large figure with its name, and more about it in small letters.
struct Tile {
  std::string name;
  std::string value;
  std::string note;
};

// One row: its texts, first the name of the row. It has a text for each column, also for those that
// are not shown.
using Row = std::vector<std::string>;

struct Column {
  // The first column that is shown is aligned left, the others right, as numbers are.
  enum class Align { kDefault, kLeft };

  // NOLINTBEGIN(google-explicit-constructor): a name alone is a column, and a table alone a block.
  Column(std::string name, Shown shown = Shown::kEverywhere, Align align = Align::kDefault)
      : name(std::move(name)), shown(shown), align(align) {}
  Column(const char* name, Shown shown = Shown::kEverywhere, Align align = Align::kDefault)
      : Column(std::string(name), shown, align) {}
  // NOLINTEND(google-explicit-constructor)

  std::string name;
  Shown shown;
  Align align;  // in text
};

struct Table {
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);

  std::string caption;
  std::vector<Column> head;
  std::vector<Row> rows;
  std::size_t shown = kAll;  // rows; a page folds the others, a text has their number
  std::string folded = {};   // the line of a page that opens the whole table; empty: it is open
};

// Names with their values; empty values are left out.
using Facts = std::vector<std::pair<std::string, std::string>>;

// Names with a sentence about each: "2 threads: too many threads: 1 is better".
struct Statements {
  Facts facts;
};

// Each in a line of its own.
struct Lines {
  std::vector<std::string> lines;
};

// The same, with bullets.
struct List {
  std::vector<std::string> items;
};

// What only a page can draw. `figures` are in its place in texts; empty: a table beside it has
// them.
struct Chart {
  std::string html;
  Facts figures = {};
};

struct Block {
  using Content = std::variant<Table, Facts, Statements, Lines, List, Chart>;

  template <typename Kind>  // NOLINTNEXTLINE(google-explicit-constructor)
  Block(Kind content, Shown shown = Shown::kEverywhere)
      : content(std::move(content)), shown(shown) {}

  Content content;
  Shown shown;
};

// Half of a page's width where there is room, or all of it.
enum class Width { kHalf, kFull };

// A part of which a format shows no block is left out there.
struct Part {
  std::string title;
  std::string note;  // explains the part to its reader; not in text
  std::vector<Block> blocks;
  Width width = Width::kHalf;
};

struct Report {
  std::string kind;               // "lookout bench"
  std::string title;              // for example the model
  std::string note;               // for example the pictures
  std::vector<std::string> head;  // what a text begins with, in lines; empty: title and note
  std::string verdict;            // a sentence above all others: what the report shows
  std::vector<Tile> tiles;        // the headline figures
  Shown tiles_shown = Shown::kEverywhere;
  std::vector<std::string> warnings;
  std::vector<Part> parts;
  // What was measured. It is called when JSON is asked for, and may refer to the result that the
  // report was made from, which has to outlive the report.
  std::function<nlohmann::ordered_json()> json;
};

// All end with a newline. `columns`: of a terminal; texts in columns that are aligned left are
// shortened where a table then fits; 0: they are not.
std::string to_text(const Report& report, std::size_t columns = 0);
std::string to_markdown(const Report& report);
std::string to_json(const Report& report);  // one line
// `made_by`: the footer; see made_by() in machine_facts.h.
std::string to_html(const Report& report, const std::string& made_by);

// A file that a report is saved in.
class ReportFile {
 public:
  // HTML when the name ends in .html, Markdown when it ends in .md, in either case, else JSON.
  static ReportFormat format_of(const std::string& path);

  // No file is saved when `path` is empty. Checks at once that it can be written. `what` as for
  // AtomicFile. Throws Error(kPermission) or Error(kOutput).
  ReportFile(const std::string& what, const std::string& path, ReportFormat format);
  ReportFile(const std::string& what, const std::string& path)
      : ReportFile(what, path, format_of(path)) {}

  bool is_html() const { return file_ && format_ == ReportFormat::kHtml; }
  // Throws as the constructor does.
  void save(const Report& report) const;

 private:
  std::optional<AtomicFile> file_;
  ReportFormat format_;
};

// Saves the report in each of `files`, and gives it to `print` in the format that was asked for.
// Does each even if another fails; then throws the first failure, Error(kOutput) or
// Error(kPermission).
void save_and_print(const Report& report, const std::vector<const ReportFile*>& files,
                    Format format, const WritePart& print);

}  // namespace lookout
