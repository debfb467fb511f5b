#include "pipeline/model/network_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "pipeline/archive/archive.h"

namespace lookout {
namespace {

// The numbers of a row: all dimensions but one are 1. Zero: it is none.
std::size_t row_size(const NetworkOutput& output) {
  std::int64_t size = 1;
  for (const std::int64_t dim : output.dims) {
    if (dim < 1 || (dim > 1 && size > 1)) return 0;
    size = std::max(size, dim);
  }
  return static_cast<std::size_t>(size);
}

bool is_row(const NetworkOutput& output, NetworkOutput::Numbers numbers, std::size_t size) {
  return output.numbers == numbers && row_size(output) == size;
}

// "Float [1, 3, 8, 8]".
std::string shape_text(const NetworkOutput& output) {
  std::string text = output.type;
  if (!output.dims.empty()) text += fmt::format(" [{}]", fmt::join(output.dims, ", "));
  return text;
}

[[noreturn]] void refuse_outputs(const std::filesystem::path& archive,
                                 const std::vector<NetworkOutput>& outputs, std::size_t labels) {
  for (const NetworkOutput& output : outputs) {
    const std::size_t size = row_size(output);
    if (output.numbers != NetworkOutput::Numbers::kFloats || size == 0) continue;
    if (size == 1) {
      refuse_model(archive, fmt::format("gives one number, but there are {} labels: a model that "
                                        "answers yes or no takes one label, that of yes",
                                        labels));
    }
    refuse_model(archive, fmt::format("gives {} scores, but there are {} labels", size, labels));
  }
  if (outputs.size() == 1) {
    refuse_model(archive, fmt::format("gives a tensor of {} instead of one row of float scores",
                                      shape_text(outputs.front())));
  }
  std::string all;
  for (const NetworkOutput& output : outputs) {
    all += fmt::format("{}{}{}{}", all.empty() ? "" : ", ", output.name,
                       output.name.empty() ? "" : " ", shape_text(output));
  }
  refuse_model(archive, fmt::format("gives {} instead of one row of float scores", all));
}

}  // namespace

std::size_t choose_scores(const std::filesystem::path& archive,
                          const std::vector<NetworkOutput>& outputs, std::size_t labels) {
  for (const auto numbers : {NetworkOutput::Numbers::kFloats, NetworkOutput::Numbers::kBytes}) {
    const auto fits = [&](const NetworkOutput& output) { return is_row(output, numbers, labels); };
    const auto first = std::find_if(outputs.begin(), outputs.end(), fits);
    if (first == outputs.end()) continue;
    const auto logits = std::find_if(first, outputs.end(), [&](const NetworkOutput& output) {
      return output.name == "logits" && fits(output);
    });
    const auto chosen = logits == outputs.end() ? first : logits;
    return static_cast<std::size_t>(std::distance(outputs.begin(), chosen));
  }
  refuse_outputs(archive, outputs, labels);
}

void check_scores(const std::filesystem::path& archive, const std::vector<float>& scores) {
  const bool bounded = std::all_of(scores.begin(), scores.end(), [](float score) {
    return score < std::numeric_limits<float>::infinity();  // NaN is not
  });
  const auto is_finite = [](float score) { return std::isfinite(score); };
  if (bounded && std::any_of(scores.begin(), scores.end(), is_finite)) return;
  throw NoScores(ErrorKind::kBadData,
                 "model " + archive.string() + ": gives scores that are not finite numbers");
}

void add_opposite(ModelSpec& spec) {
  if (spec.labels.size() != 1) return;
  spec.labels.push_back("not " + spec.labels.front());
  if (!spec.class_ids.empty()) spec.class_ids.push_back("not " + spec.class_ids.front());
}

}  // namespace lookout
