#include "app/train/train_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "app/dataset/class_folders.h"
#include "app/dataset/eval_set.h"
#include "pipeline/archive/metadata.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/model_spec.h"
#include "pipeline/core/sha256.h"
#include "platform/system/csv.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

// The labels in a CSV file; it is read and checked as a whole by read_eval_set().
std::set<std::string> labels_in(const std::string& csv) {
  std::set<std::string> labels;
  try {
    for (const CsvRow& row : parse_csv(read_input("labels", csv))) {
      const bool header = row.values == std::vector<std::string>{"file", "label"};
      if (row.values.size() == 2 && !header) labels.insert(row.values[1]);
    }
  } catch (const CsvError&) {
  }
  return labels;
}

void check_label(const std::string& label) {
  if (label == kUnknownLabel) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("the class {} has the name of scenes that are none of the classes: call "
                    "it {} if it holds counter-examples",
                    label, kCounterExamples));
  }
  try {
    if (parse_labels(label).size() == 1 && parse_labels(label).front() == label) return;
  } catch (const Error&) {
  }
  throw Error(
      ErrorKind::kBadData,
      fmt::format("the name of class '{}' cannot be a label: it is not one line of UTF-8", label));
}

std::vector<std::string> checked_labels(const std::string& folder,
                                        const std::set<std::string>& names) {
  std::vector<std::string> labels;
  for (const std::string& name : names) {
    if (name == kCounterExamples) continue;
    check_label(name);
    labels.push_back(name);
  }
  if (labels.size() < 2) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{} has {}: a model needs at least two, a folder of pictures for each", folder,
                    labels.empty() ? "no classes" : "one class only, " + labels.front()));
  }
  return labels;
}

// Evenly spread, so that every class and time is among them.
void take_a_part(TrainPictures& pictures) {
  const std::size_t all = pictures.files.size();
  if (all <= kMaxPictures) return;
  for (std::size_t i = 0; i < kMaxPictures; ++i) {
    const std::size_t from = i * all / kMaxPictures;
    pictures.files[i] = pictures.files[from];
    pictures.classes[i] = pictures.classes[from];
  }
  pictures.files.resize(kMaxPictures);
  pictures.classes.resize(kMaxPictures);
  pictures.left_out = all - kMaxPictures;
  log_warn(
      "{} pictures are more than the {} that a model is trained with: every class is "
      "thinned out evenly",
      all, kMaxPictures);
}

// The classes of pictures by their SHA-256.
class KnownPictures {
 public:
  // Whether a picture of the class is known already; if not, it is from now on. Throws
  // Error(kBadData) when it is of another class.
  bool knows(const TrainPictures& pictures, std::size_t i, const std::string& hash) {
    const std::string& file = pictures.files[i];
    const std::string& label = pictures.name_of(pictures.classes[i]);
    const auto [known, is_new] = known_.emplace(hash, std::make_pair(file, label));
    const auto& [other_file, other_label] = known->second;
    if (is_new || other_label == label) return !is_new;
    throw Error(ErrorKind::kBadData, fmt::format("the same picture is in two classes: {} of {} and "
                                                 "{} of {}",
                                                 other_file, other_label, file, label));
  }

 private:
  std::unordered_map<std::string, std::pair<std::string, std::string>> known_;  // file, label
};

// Leaves out pictures that are known.
TrainPictures without_known(const TrainPictures& all, KnownPictures& known) {
  TrainPictures kept = all;
  kept.files.clear();
  kept.classes.clear();
  for (std::size_t i = 0; i < all.files.size(); ++i) {
    const std::string hash = sha256(read_input("picture", all.files[i]));
    if (known.knows(all, i, hash)) {
      ++kept.duplicates;
      continue;
    }
    kept.files.push_back(all.files[i]);
    kept.classes.push_back(all.classes[i]);
    kept.hashes.push_back(hash);
  }
  if (kept.duplicates > 0) {
    log_warn(
        "{} of {} left out: the same as another picture of the class",
        kept.duplicates == 1 ? "1 picture is" : fmt::format("{} pictures are", kept.duplicates),
        kept.folder);
  }
  return kept;
}

void check_counts(const TrainPictures& pictures) {
  std::vector<std::size_t> counts(pictures.labels.size() + 1);
  for (const std::size_t index : pictures.classes) ++counts[index];
  counts.pop_back();
  require_enough(pictures.labels, counts);
}

// The parts of a set, of which only "train" is there when it is not split.
SplitFolders split_of(const std::string& folder) {
  const std::optional<SplitFolders> parts = find_splits(folder);
  if (!parts) return {folder, "", ""};
  if (parts->train.empty()) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("folder {} has parts of a set, but none to train with, {}/train",
                            folder, folder));
  }
  log_info("folder {} is split: training with {}{}{}", folder, parts->train,
           parts->val.empty() ? "" : fmt::format(", measuring on {}", parts->val),
           parts->test.empty() ? "" : fmt::format(", leaving {} for lookout eval", parts->test));
  return *parts;
}

void add_pictures(const std::vector<std::string>& files, std::size_t index,
                  TrainPictures& pictures) {
  pictures.files.insert(pictures.files.end(), files.begin(), files.end());
  pictures.classes.insert(pictures.classes.end(), files.size(), index);
}

TrainPictures pictures_of_folders(const std::string& folder) {
  const std::vector<ClassFolder> folders = read_class_folders(folder);
  std::set<std::string> names;
  for (const ClassFolder& of_class : folders) names.insert(of_class.name);
  TrainPictures pictures;
  pictures.folder = folder;
  pictures.labels = checked_labels(folder, names);
  std::size_t index = 0;
  const ClassFolder* counter_examples = nullptr;
  for (const ClassFolder& of_class : folders) {
    if (of_class.name == kCounterExamples) {
      counter_examples = &of_class;
    } else {
      add_pictures(of_class.pictures, index++, pictures);
    }
  }
  if (counter_examples != nullptr) add_pictures(counter_examples->pictures, index, pictures);
  return pictures;
}

// Those of a set, by their class.
TrainPictures sorted_by_class(const EvalSet& set, const std::vector<std::string>& labels) {
  TrainPictures pictures;
  pictures.folder = set.folder;
  pictures.labels = labels;
  for (std::size_t index = 0; index <= labels.size(); ++index) {
    std::vector<std::string> files;
    std::copy_if(set.pictures.begin(), set.pictures.end(), std::back_inserter(files),
                 [&](const std::string& file) { return set.classes.at(file) == index; });
    add_pictures(files, index, pictures);
  }
  return pictures;
}

TrainPictures pictures_of_csv(const std::string& folder, const std::string& csv) {
  const std::set<std::string> names = labels_in(csv);
  warn_of_names_that_look_alike({names.begin(), names.end()});
  const std::vector<std::string> labels = checked_labels(csv, names);
  std::vector<std::string> all_labels = labels;
  if (names.count(kCounterExamples) > 0) all_labels.emplace_back(kCounterExamples);
  return sorted_by_class(read_eval_set(folder, csv, all_labels), labels);
}

TrainPictures validation_pictures(const std::string& folder,
                                  const std::vector<std::string>& labels) {
  return sorted_by_class(read_eval_set(folder, "", labels, labels.size()), labels);
}

}  // namespace

const std::string& TrainPictures::name_of(std::size_t index) const {
  static const std::string counter_examples = kCounterExamples;
  return index < labels.size() ? labels[index] : counter_examples;
}

void require_enough(const std::vector<std::string>& labels,
                    const std::vector<std::size_t>& counts) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (counts[i] >= kMinPictures) continue;
    const std::string have = counts[i] == 0   ? "no pictures"
                             : counts[i] == 1 ? "1 picture"
                                              : fmt::format("{} pictures", counts[i]);
    throw Error(ErrorKind::kBadData,
                fmt::format("class {} has {}: at least {} are needed, better 20 and more",
                            labels[i], have, kMinPictures));
  }
}

TrainFolder read_train_pictures(const std::string& folder, const std::string& csv) {
  const SplitFolders parts = csv.empty() ? split_of(folder) : SplitFolders{folder, "", ""};
  TrainFolder read;
  read.train = csv.empty() ? pictures_of_folders(parts.train) : pictures_of_csv(folder, csv);
  check_counts(read.train);
  take_a_part(read.train);
  KnownPictures known;
  read.train = without_known(read.train, known);
  check_counts(read.train);
  if (!parts.val.empty()) {
    read.val = validation_pictures(parts.val, read.train.labels);
    take_a_part(read.val);
    read.val = without_known(read.val, known);
  }
  return read;
}

std::string hash_of(const TrainPictures& pictures) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < pictures.files.size(); ++i) {
    lines.push_back(pictures.hashes[i] + " " + pictures.name_of(pictures.classes[i]) + "\n");
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  return sha256(text);
}

}  // namespace lookout
