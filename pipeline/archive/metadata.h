// A model's description as its archive, or a file beside it, states it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/core/model_spec.h"

namespace lookout {

// Reads the archive's metadata.json. Throws Error(kBadData) naming the missing or wrong field.
ModelSpec parse_metadata(const std::string& json);

// Takes over what a file beside a model says, in the words of metadata.json, of which every field
// may be missing. It may have "labels", too, as names_of() reads them; they are not taken if `spec`
// has some. Throws Error(kBadData) naming the wrong field.
void take_metadata(const std::string& json, ModelSpec& spec);

// Why a text cannot be a label, as "is empty"; empty: it can.
std::string problem_of_label(const std::string& text);

// One label a line; blanks around it, empty lines at the end, carriage returns and a byte order
// mark are ignored. Throws Error(kBadData) for an empty text, an empty line before others, one of
// over 1000 bytes, a NUL character, or bytes that are not UTF-8.
std::vector<std::string> parse_labels(const std::string& text);

// The identifiers in class_ids.txt, written as labels are. Throws Error(kBadData) as
// parse_labels(), and when there are not as many as `outputs`.
std::vector<std::string> parse_class_ids(const std::string& text, std::size_t outputs);

}  // namespace lookout
