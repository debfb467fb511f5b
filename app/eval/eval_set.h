// Pictures whose classes are known.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace lookout {

struct EvalSet {
  std::vector<std::string> pictures;                     // paths, in the order of reading
  std::unordered_map<std::string, std::size_t> classes;  // path -> index of its label
};

// The index of the label that `name` means:
// - the label itself;
// - else its index, in digits;
// - else a name as ImageNet's folders have it: WordNet's number (n and eight digits), _ and the
// label with
//   _ for every blank; or the label's first word, which ends at a blank, comma or tab (the folder
//   n01443537 for the label `n01443537 goldfish`).
// Throws Error(kBadData) when no label or more than one fits. `what` is the subject of its sentence
// ("folder a/b").
std::size_t class_of(const std::string& name, const std::vector<std::string>& labels,
                     const std::string& what);

// Reads `folder`, which has a folder of pictures for each class. When `csv` is not empty, reads
// that file instead: each line is `file,label` with a path relative to `folder`. Values may be
// quoted, and a first line `file,label` is skipped. Throws Error(kNoInput) or Error(kPermission)
// for a folder or file that is absent or cannot be read; Error(kBadData) as above, for a malformed
// line, and for a picture that is named twice.
EvalSet read_eval_set(const std::string& folder, const std::string& csv,
                      const std::vector<std::string>& labels);

}  // namespace lookout
