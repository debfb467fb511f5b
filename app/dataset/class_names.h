// The classes that folders and lines of a CSV file name.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace lookout {

// Equal for texts that differ by case, by blanks at their ends or by how characters are encoded
// alone: composed and decomposed accents, forms of the same letter, signs of no width.
std::string folded(const std::string& text);

// Finds labels by what people call them. A name means, whichever comes first:
// - the label itself;
// - its index, in digits, unless all labels are numbers;
// - a name as ImageNet's folders have it: WordNet's number (n and eight digits), _ and the label
//   with _ for every blank; or the label's first words, which end at a blank, comma or tab (the
//   folder n01443537 for the label `n01443537 goldfish`);
// - one of these without regard to case, blanks around it, and the way accents are encoded.
class ClassNames {
 public:
  explicit ClassNames(const std::vector<std::string>& labels);

  // Has this very name mean the label of that index, too.
  void add_name(const std::string& name, std::size_t index);

  // The index of the label; nothing when no label or more than one fits.
  std::optional<std::size_t> find(const std::string& name) const;

  // Why find() finds nothing: "'gold fish' is none of the model's 1000 labels, nor the index of
  // one; did you mean goldfish?".
  std::string problem(const std::string& name) const;

 private:
  using Indices = std::vector<std::size_t>;
  using Names = std::unordered_map<std::string, Indices>;

  Indices find_all(const std::string& name) const;

  std::size_t count_;                     // of labels
  bool are_numbers_;                      // labels
  std::vector<std::string> suggestions_;  // the labels and what they begin with
  Names whole_;                           // labels
  Names starts_;                          // their first words
  Names folded_whole_;                    // the same without case
  Names folded_starts_;
};

}  // namespace lookout
