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
// - else, as ImageNet's folders are called, WordNet's number (n and eight digits), _ and the label
//   with _ for every blank; or the label's first word, followed by a blank, comma or tab (a folder
//   n01443537 where labels are `n01443537 goldfish`).
// Throws Error(kBadData) in a sentence about `what` ("folder a/b") when that is none of them, or
// more than one.
std::size_t class_of(const std::string& name, const std::vector<std::string>& labels,
                     const std::string& what);

// `folder` with a folder for each class; or, when `csv` is not empty, the pictures that this file
// of lines `file,label` names, seen from `folder`. Values may be quoted, a first line `file,label`
// is left out. Throws Error(kNoInput) or Error(kPermission) for a folder or file that is absent or
// cannot be read, Error(kBadData) as above, for a line that is none, and for a picture that is
// named twice.
EvalSet read_eval_set(const std::string& folder, const std::string& csv,
                      const std::vector<std::string>& labels);

}  // namespace lookout
