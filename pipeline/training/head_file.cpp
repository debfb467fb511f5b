#include "pipeline/training/head_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "pipeline/archive/metadata.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/json_text.h"
#include "pipeline/core/sha256.h"
#include "pipeline/core/text.h"

namespace lookout {
namespace {

using HeadJson = nlohmann::ordered_json;

// Floats are copied as they are in memory.
static_assert(sizeof(float) == 4 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

constexpr std::string_view kMagic = "lookout-head ";
constexpr std::string_view kFormat = "1";
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kMaxJson = std::size_t{1} << 20;
constexpr std::uint64_t kMaxCount = 1 << 16;  // of outputs, of examples, of numbers in a row
constexpr std::uint64_t kMaxBaseBytes = ModelArchive::kMaxBytes;
constexpr std::size_t kScalars = 2;  // threshold and steepness

[[noreturn]] void refuse_head(const std::string& what) { throw Error(ErrorKind::kBadData, what); }

[[noreturn]] void refuse_content(const std::string& what) {
  refuse_head("is no head that can be used (" + what + "); train it again");
}

// Removes the first line of `rest` and returns it without its end; empty when there is none.
std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  if (end == std::string_view::npos) return {};
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

const HeadJson& member(const HeadJson& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end()) refuse_content(std::string("no ") + key);
  return *found;
}

std::string text_member(const HeadJson& object, const char* key) {
  const HeadJson& value = member(object, key);
  if (!value.is_string()) refuse_content(std::string(key) + " is no text");
  return value.get<std::string>();
}

std::uint64_t count_of(const HeadJson& object, const char* key, std::uint64_t most) {
  const HeadJson& value = member(object, key);
  const std::uint64_t count = value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
  if (count == 0 || count > most) {
    refuse_content(fmt::format("{} is no number from 1 to {}", key, most));
  }
  return count;
}

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

HeadBase base_of(const HeadJson& header) {
  const HeadJson& json = member(header, "base");
  HeadBase base{text_member(json, "name"), text_member(json, "sha256"),
                count_of(json, "bytes", kMaxBaseBytes)};
  if (!is_hash(base.sha256)) refuse_content("sha256 of its base is none");
  return base;
}

// One line each, as labels.txt has them.
std::string labels_of(const HeadJson& header) {
  const HeadJson& json = member(header, "labels");
  std::vector<std::string> labels;
  if (json.is_array() && json.size() <= kMaxCount) {
    for (const HeadJson& label : json) {
      if (!label.is_string()) refuse_content("a label is no text");
      labels.push_back(label.get<std::string>());
    }
  }
  if (labels.empty()) refuse_content("labels are no list of names");
  return joined(labels, "\n") + "\n";
}

// The numbers behind the JSON.
class Floats {
 public:
  explicit Floats(std::string_view bytes) : bytes_(bytes) {}

  // Throws when one is not finite. There are as many.
  std::vector<float> take(std::size_t count) {
    std::vector<float> values(count);
    std::memcpy(values.data(), bytes_.data(), count * sizeof(float));
    bytes_.remove_prefix(count * sizeof(float));
    const bool finite =
        std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
    if (!finite) refuse_content("it has numbers that are not finite");
    return values;
  }

 private:
  std::string_view bytes_;
};

struct Sizes {
  std::uint64_t outputs;
  std::uint64_t width;
  std::uint64_t examples;
  std::uint64_t example_width;

  std::uint64_t floats() const {
    return kScalars + outputs * (1 + width) + examples * example_width;
  }
};

Sizes sizes_of(const HeadJson& header, std::string_view floats) {
  const Sizes sizes{count_of(header, "outputs", kMaxCount), count_of(header, "width", kMaxCount),
                    count_of(header, "examples", kMaxCount),
                    count_of(header, "example_width", kMaxCount)};
  if (floats.size() != sizes.floats() * sizeof(float)) {
    refuse_content(fmt::format("{} bytes of numbers instead of {}", floats.size(),
                               sizes.floats() * sizeof(float)));
  }
  return sizes;
}

void read_numbers(const Sizes& sizes, std::string_view bytes, TrainedModel& model) {
  Floats floats(bytes);
  OodDetector& detector = model.detector;
  detector.threshold = floats.take(1).front();
  detector.steepness = floats.take(1).front();
  model.head.outputs = sizes.outputs;
  model.head.biases = floats.take(sizes.outputs);
  model.head.weights = floats.take(sizes.outputs * sizes.width);
  for (std::uint64_t i = 0; i < sizes.examples; ++i) {
    const std::vector<float> row = floats.take(sizes.example_width);
    detector.examples.add_row(row.data(), row.size());
    detector.examples.reserve(sizes.examples);
  }
}

TrainedModel model_of(const HeadJson& header, std::string_view bytes) {
  const Sizes sizes = sizes_of(header, bytes);
  TrainedModel model;
  model.classes = count_of(header, "classes", kMaxCount);
  if (sizes.outputs != model.classes && sizes.outputs != model.classes + 1) {
    refuse_content("its outputs do not fit its classes");
  }
  const HeadJson& of_profiles = member(header, "profiles");
  if (!of_profiles.is_boolean()) refuse_content("profiles is neither true nor false");
  model.detector.of_profiles = of_profiles.get<bool>();
  if (!model.detector.of_profiles && sizes.example_width != sizes.width) {
    refuse_content("its examples do not fit its weights");
  }
  model.detector.neighbours = count_of(header, "neighbours", kMaxCount);
  model.labels = labels_of(header);
  model.metadata = to_text(member(header, "metadata"), 2) + "\n";
  const HeadJson& report = member(header, "report");
  if (!report.is_null()) model.producer_info = to_text(report, 2) + "\n";
  read_numbers(sizes, bytes, model);
  return model;
}

HeadJson json_of_head(const HeadFile& head) {
  const TrainedModel& model = head.model;
  const Embeddings& examples = model.detector.examples;
  const HeadBase& base = head.base;
  HeadJson report = parse_ordered_json(model.producer_info);
  if (report.is_discarded()) report = nullptr;
  return {{"base", {{"name", base.name}, {"sha256", base.sha256}, {"bytes", base.bytes}}},
          {"metadata", parse_ordered_json(model.metadata)},
          {"labels", parse_labels(model.labels)},
          {"report", std::move(report)},
          {"classes", model.classes},
          {"outputs", model.head.outputs},
          {"width", model.head.weights.size() / model.head.outputs},
          {"examples", examples.size()},
          {"example_width", examples.width()},
          {"profiles", model.detector.of_profiles},
          {"neighbours", model.detector.neighbours}};
}

void append_floats(const std::vector<float>& values, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

}  // namespace

bool is_head(std::string_view bytes) { return starts_with(bytes, kMagic); }

std::string write_head(const HeadFile& head) {
  const TrainedModel& model = head.model;
  std::string content = to_text(json_of_head(head)) + "\n";
  append_floats({model.detector.threshold, model.detector.steepness}, content);
  append_floats(model.head.biases, content);
  append_floats(model.head.weights, content);
  append_floats(model.detector.examples.values(), content);
  return fmt::format("{}{}\n{}\n{}", kMagic, kFormat, sha256(content), content);
}

HeadFile read_head(std::string_view bytes) {
  if (bytes.size() > kMaxHeadBytes) {
    refuse_head(fmt::format("is a head of {} bytes; none is larger than {} MB: train it again",
                            bytes.size(), kMaxHeadBytes >> 20));
  }
  std::string_view rest = bytes;
  const std::string_view first = take_line(rest);
  if (starts_with(first, kMagic) && first.substr(kMagic.size()) != kFormat) {
    refuse_head(
        "is a head of another format, which this version of lookout does not read: use "
        "the version that wrote it, or train it again");
  }
  const std::string_view hash = take_line(rest);
  if (!starts_with(first, kMagic) || !is_hash(hash) || sha256(rest) != hash) {
    refuse_head(
        "is a head that is cut or damaged, as its SHA-256 tells: copy it again, or train "
        "it again");
  }
  const std::string_view line = take_line(rest);
  if (line.size() > kMaxJson) refuse_content("its description is longer than 1 MB");
  const HeadJson header = parse_ordered_json(line);
  if (!header.is_object()) refuse_content("its description is no JSON");
  HeadFile head{base_of(header), model_of(header, rest)};
  spec_of(head);
  return head;
}

std::uint64_t parameters_of(const HeadFile& head) {
  const TrainedModel& model = head.model;
  return model.head.weights.size() + model.head.biases.size() +
         model.detector.examples.values().size();
}

ModelSpec spec_of(const HeadFile& head) {
  ModelSpec spec;
  try {
    spec = parse_metadata(head.model.metadata);
    spec.labels = parse_labels(head.model.labels);
  } catch (const Error& error) {
    refuse_content(error.what());
  }
  if (spec.labels.size() != head.model.classes + 1) {
    refuse_content(fmt::format("{} labels of {} classes and \"unknown\"", spec.labels.size(),
                               head.model.classes));
  }
  spec.output = ModelOutput::kProbabilities;
  spec.unknown = head.model.classes;
  return spec;
}

}  // namespace lookout
