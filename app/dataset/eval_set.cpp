#include "app/dataset/eval_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
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

constexpr const char* kHeader = "file,label";  // of a CSV file

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
  for (const ClassFolder& entry : read_class_folders(set.folder)) {
    const auto index = names.find(entry.name);
    if (!index) {
      problems.add(ErrorKind::kBadData, [&] {
        return fmt::format("folder {}: {}", entry.path.string(), names.problem(entry.name));
      });
      continue;
    }
    for (const std::string& file : entry.pictures) set.pictures.push_back({file, *index});
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

// Whether the first row is a header, be it a wrong one.
bool is_header(const CsvRow& row, const std::string& path, const ClassNames& names) {
  std::error_code ignored;
  const bool picture = has_picture_extension(row.values[0]) || fs::exists(path, ignored);
  const bool label = row.values.size() > 1 && names.find(row.values[1]);
  return joined(row.values, ",") == kHeader || !(picture || label);
}

EvalSet from_csv(const std::string& folder, const std::string& csv, const ClassNames& names) {
  EvalSet set;
  set.folder = folder;
  Problems problems;
  std::set<std::string> known;
  const std::vector<CsvRow> rows = read_csv(csv);
  for (const CsvRow& row : rows) {
    const std::string path = (fs::path(folder) / row.values[0]).string();
    const auto add = [&](ErrorKind kind, const auto& sentence) {
      problems.add(kind, [&] { return fmt::format("{}, line {}: {}", csv, row.line, sentence()); });
    };
    if (&row == &rows.front() && is_header(row, path, names)) {
      const std::string header = joined(row.values, ",");
      if (header == kHeader) continue;
      add(ErrorKind::kBadData, [&] {
        return fmt::format("the header is {}; expected {}, or no header", header, kHeader);
      });
      continue;
    }
    if (row.values.size() != 2) {
      add(ErrorKind::kBadData,
          [] { return "expected file,label, with quotes around what has a comma"; });
      continue;
    }
    const auto index = names.find(row.values[1]);
    if (!index) add(ErrorKind::kBadData, [&] { return names.problem(row.values[1]); });
    std::error_code error;
    if (!fs::exists(path, error)) {
      if (!error) error = std::make_error_code(std::errc::no_such_file_or_directory);
      const Error missing = cannot_read("picture " + path, error);
      add(missing.kind(), [&] { return missing.what(); });
    }
    if (!known.insert(path).second) {
      add(ErrorKind::kBadData, [&] { return row.values[0] + " comes twice"; });
    }
    set.pictures.push_back({path, index.value_or(0)});
  }
  problems.report(csv);
  if (set.pictures.empty()) {
    throw Error(ErrorKind::kNoInput, fmt::format("{} names no pictures", csv));
  }
  return set;
}

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
  return csv.empty() ? from_folders(folder, names) : from_csv(folder, csv, names);
}

}  // namespace lookout
