#include "app/dataset/eval_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "app/dataset/class_folders.h"
#include "app/dataset/class_names.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/sources/picture_folder.h"
#include "platform/system/csv.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

// The problems of a set, which are reported together.
class Problems {
 public:
  // `sentence` makes the text, which costs a search for near names.
  template <typename Sentence>
  void add(ErrorKind kind, const Sentence& sentence) {
    if (kind == ErrorKind::kBadData || sentences_.empty()) kind_ = kind;
    if (sentences_.size() < kMaxReported) sentences_.push_back(sentence());
    ++count_;
  }

  // Throws when there are any.
  void report(const std::string& subject) const {
    if (count_ == 0) return;
    if (count_ == 1) throw Error(kind_, sentences_.front());
    for (const std::string& sentence : sentences_) log_error("{}", sentence);
    if (count_ > sentences_.size()) log_error("and {} more", count_ - sentences_.size());
    throw Error(kind_, fmt::format("{}: {} problems, nothing was measured; the first: {}", subject,
                                   count_, sentences_.front()));
  }

 private:
  static constexpr std::size_t kMaxReported = 20;

  ErrorKind kind_ = ErrorKind::kBadData;
  std::vector<std::string> sentences_;
  std::size_t count_ = 0;
};

// The part of a split set to measure with.
std::string measured_part(const std::string& folder) {
  const std::optional<SplitFolders> splits = find_splits(folder);
  if (!splits) return folder;
  const std::string& part = splits->test.empty() ? splits->val : splits->test;
  if (part.empty()) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("folder {} has no part to test or validate with; name {} to measure on "
                            "the pictures of the training",
                            folder, splits->train));
  }
  log_info("folder {} is split: measuring on {}", folder, part);
  return part;
}

EvalSet from_folders(const std::string& folder, const ClassNames& names) {
  EvalSet set;
  set.folder = measured_part(folder);
  Problems problems;
  for (const ClassFolder& of_class : read_class_folders(set.folder)) {
    const auto index = names.find(of_class.name);
    if (!index) {
      problems.add(ErrorKind::kBadData, [&] {
        return fmt::format("folder {}: {}", of_class.path.string(), names.problem(of_class.name));
      });
      continue;
    }
    for (const std::string& picture : of_class.pictures) {
      set.pictures.push_back(picture);
      set.classes[picture] = *index;
    }
  }
  problems.report("folder " + set.folder);
  if (set.pictures.empty()) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("there are no pictures in the folders of folder {}", set.folder));
  }
  return set;
}

std::vector<CsvRow> read_csv(const std::string& csv) {
  try {
    return parse_csv(read_input("labels", csv));
  } catch (const CsvError& error) {
    throw Error(ErrorKind::kBadData, fmt::format("{}, {}", csv, error.what()));
  }
}

// Reads the lines of a CSV file into a set.
class CsvReader {
 public:
  CsvReader(const std::string& folder, const std::string& csv, const ClassNames& names)
      : folder_(folder), csv_(csv), names_(names) {}

  EvalSet read() {
    set_.folder = folder_;
    const std::vector<CsvRow> rows = read_csv(csv_);
    for (const CsvRow& row : rows) {
      const bool first = &row == &rows.front();
      if (!first || !is_header(row)) read(row);
    }
    problems_.report(csv_);
    if (set_.pictures.empty()) {
      throw Error(ErrorKind::kNoInput, fmt::format("{} names no pictures", csv_));
    }
    return std::move(set_);
  }

 private:
  // Whether the first row is a header. Complains of one that is not `file,label`.
  bool is_header(const CsvRow& row) {
    const std::string text = joined(row.values, ",");
    if (text == "file,label") return true;
    std::error_code ignored;
    const bool picture = has_picture_extension(row.values[0]) || fs::exists(path_of(row), ignored);
    const bool label = row.values.size() > 1 && names_.find(row.values[1]);
    if (picture || label) return false;
    problems_.add(ErrorKind::kBadData, [&] {
      return fmt::format("{}: the header is {}; expected file,label, or no header", where(row),
                         text);
    });
    return true;
  }

  void read(const CsvRow& row) {
    if (row.values.size() != 2) {
      problems_.add(ErrorKind::kBadData, [&] {
        return where(row) + ": expected file,label, with quotes around what has a comma";
      });
      return;
    }
    const std::string& file = row.values[0];
    const auto index = names_.find(row.values[1]);
    if (!index) {
      problems_.add(ErrorKind::kBadData,
                    [&] { return where(row) + ": " + names_.problem(row.values[1]); });
    }
    std::error_code error;
    if (!fs::exists(path_of(row), error)) {
      if (!error) error = std::make_error_code(std::errc::no_such_file_or_directory);
      const Error sentence = cannot_read("picture " + path_of(row), error);
      problems_.add(sentence.kind(), [&] { return where(row) + ": " + sentence.what(); });
    }
    if (!set_.classes.emplace(path_of(row), index.value_or(0)).second) {
      problems_.add(ErrorKind::kBadData, [&] { return where(row) + ": " + file + " comes twice"; });
    }
    set_.pictures.push_back(path_of(row));
  }

  std::string path_of(const CsvRow& row) const {
    return (fs::path(folder_) / row.values[0]).string();
  }
  std::string where(const CsvRow& row) const { return fmt::format("{}, line {}", csv_, row.line); }

  const std::string& folder_;
  const std::string& csv_;
  const ClassNames& names_;
  EvalSet set_;
  Problems problems_;
};

}  // namespace

void check_eval_set(const std::string& folder, const std::string& csv) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::is_directory(status)) {
    if (!error) error = std::make_error_code(std::errc::not_a_directory);
    throw cannot_read("folder " + folder, error);
  }
  if (csv.empty()) require_class_folders(folder);
}

EvalSet read_eval_set(const std::string& folder, const std::string& csv,
                      const std::vector<std::string>& labels, std::optional<std::size_t> unknown) {
  check_eval_set(folder, csv);
  ClassNames names(labels);
  if (unknown) names.add_name(kCounterExamples, *unknown);
  return csv.empty() ? from_folders(folder, names) : CsvReader(folder, csv, names).read();
}

}  // namespace lookout
