// Pictures whose classes are known.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lookout {

// The name of the folder, and the label in a CSV file, of counter-examples: pictures of none of the
// classes.
inline constexpr const char* kCounterExamples = "_other";
// What a model answers for such scenes; no folder of a class has this name.
inline constexpr const char* kUnknownLabel = "unknown";

struct LabelledPicture {
  std::string file;       // path
  std::size_t label = 0;  // index
};

struct EvalSet {
  std::string folder;  // as given, or the part of it that was read
  std::vector<LabelledPicture> pictures;
};

// Throws the errors of read_eval_set() that the folder alone shows: it cannot be read, or has no
// folder for each class where `csv` is empty. `csv` is not read: a FIFO can be read once.
void check_eval_set(const std::string& folder, const std::string& csv);

// Reads `folder`, which has a folder of pictures for each class, named as ClassNames understands,
// by read_class_folders(). Of a set that is split already (find_splits()) reads the part to test
// with, else the one to validate with, and logs which. When `csv` is not empty, reads that file
// instead: each line is `file,label` with a path relative to `folder`. Values may be quoted, and a
// first line `file,label` is skipped.
//
// Throws Error(kNoInput) or Error(kPermission) for a folder or file that is absent or cannot be
// read; Error(kBadData) for unknown and ambiguous classes, a wrong header or line, and a picture
// that is named twice; Error(kNoInput) for a picture that is not there, and when no picture is
// left. All of a set's problems are found: each is logged when there are several, and the Error
// has the first one and their number.
// `unknown`: the index of the label that kCounterExamples means, too; nothing: it means none.
EvalSet read_eval_set(const std::string& folder, const std::string& csv,
                      const std::vector<std::string>& labels,
                      std::optional<std::size_t> unknown = std::nullopt);

}  // namespace lookout
