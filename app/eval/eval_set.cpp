#include "app/eval/eval_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <regex>
#include <system_error>

#include "pipeline/error.h"
#include "platform/sources/picture_source.h"
#include "platform/system/csv.h"
#include "platform/system/input_file.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

std::optional<std::size_t> as_index(const std::string& name, std::size_t count) {
  const auto index = parse_number<std::size_t>(name);
  return index && *index < count ? index : std::nullopt;
}

std::string without_wordnet_number(const std::string& name) {
  static const std::regex number("n[0-9]{8}_(.+)");
  std::smatch match;
  if (!std::regex_match(name, match, number)) return {};
  std::string label = match[1];
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

bool has_first_word(const std::string& label, const std::string& word) {
  return label.size() > word.size() && label.compare(0, word.size(), word) == 0 &&
         std::strchr(" ,\t", label[word.size()]) != nullptr;
}

template <typename Matches>
std::vector<std::size_t> find_all(const std::vector<std::string>& labels, Matches matches) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (matches(labels[i])) found.push_back(i);
  }
  return found;
}

// The folders within a folder, sorted, without hidden ones.
std::vector<fs::path> folders_in(const std::string& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    const bool hidden = entries->path().filename().string().front() == '.';
    if (!hidden && entries->is_directory(ignored)) folders.push_back(entries->path());
  }
  if (error) throw cannot_read("folder " + folder, error);
  if (folders.empty()) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("folder {} has no folders, one for each class; or give --labels-csv "
                            "FILE with lines of file,label",
                            folder));
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

EvalSet from_folders(const std::string& folder, const std::vector<std::string>& labels) {
  EvalSet set;
  for (const fs::path& path : folders_in(folder)) {
    const std::size_t index = class_of(path.filename().string(), labels, "folder " + path.string());
    for (const std::string& picture : list_pictures(path.string())) {
      set.pictures.push_back(picture);
      set.classes[picture] = index;
    }
  }
  return set;
}

EvalSet from_csv(const std::string& folder, const std::string& csv,
                 const std::vector<std::string>& labels) {
  EvalSet set;
  std::vector<CsvRow> rows;
  try {
    rows = parse_csv(read_input("labels", csv));
  } catch (const CsvError& error) {
    throw Error(ErrorKind::kBadData, fmt::format("{}, {}", csv, error.what()));
  }
  const CsvRow head{1, {"file", "label"}};
  for (const CsvRow& row : rows) {
    const std::string where = fmt::format("{}, line {}", csv, row.line);
    if (row.line == head.line && row.values == head.values) continue;
    if (row.values.size() != head.values.size()) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("{}: expected file,label, with quotes around what has a comma", where));
    }
    const std::string picture = (fs::path(folder) / row.values[0]).string();
    const std::size_t index = class_of(row.values[1], labels, where);
    if (!set.classes.emplace(picture, index).second) {
      throw Error(ErrorKind::kBadData, fmt::format("{}: {} comes twice", where, row.values[0]));
    }
    set.pictures.push_back(picture);
  }
  if (set.pictures.empty()) {
    throw Error(ErrorKind::kNoInput, fmt::format("{} names no pictures", csv));
  }
  return set;
}

}  // namespace

std::size_t class_of(const std::string& name, const std::vector<std::string>& labels,
                     const std::string& what) {
  auto found = find_all(labels, [&](const std::string& label) { return label == name; });
  if (found.empty()) {
    if (const auto index = as_index(name, labels.size())) return *index;
    const std::string plain = without_wordnet_number(name);
    found = find_all(labels, [&](const std::string& label) {
      return (!plain.empty() && label == plain) || has_first_word(label, name);
    });
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: '{}' is none of the model's {} labels, nor the index of one", what,
                            name, labels.size()));
  }
  throw Error(ErrorKind::kBadData,
              fmt::format("{}: '{}' means more than one label, {} and {}: use the index", what,
                          name, found[0], found[1]));
}

EvalSet read_eval_set(const std::string& folder, const std::string& csv,
                      const std::vector<std::string>& labels) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::is_directory(status)) {
    if (!error) error = std::make_error_code(std::errc::not_a_directory);
    throw cannot_read("folder " + folder, error);
  }
  return csv.empty() ? from_folders(folder, labels) : from_csv(folder, csv, labels);
}

}  // namespace lookout
