#include "pipeline/model/warm_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <optional>
#include <random>
#include <string>

#include "pipeline/archive/archive.h"
#include "pipeline/core/error.h"
#include "pipeline/model/network_output.h"
#include "pipeline/model/top_k.h"

namespace lookout {
namespace {

constexpr std::chrono::seconds kWarmUpLimit{2};
constexpr int kMinRuns = 2;         // LibTorch's profiling executor specializes in its first two
constexpr float kRounding = 1e-3F;  // of a probability, beyond 0 and 1

// A channel of a pixel, 0..1. `x` and `y`: 0..1, from the upper left corner.
using Draw = float (*)(float x, float y, std::size_t channel, std::minstd_rand& random);

struct TestImage {
  Draw draw;
  float contrast = 1;  // above 1: beyond the range of a picture
};

float noise(float /*x*/, float /*y*/, std::size_t /*channel*/, std::minstd_rand& random) {
  return static_cast<float>(random() % 256) / 255;
}

template <int kRed, int kGreen, int kBlue>
float flat(float /*x*/, float /*y*/, std::size_t channel, std::minstd_rand& /*random*/) {
  constexpr std::array<float, 3> kColor{kRed, kGreen, kBlue};
  return kColor.at(channel);
}

float gradients(float x, float y, std::size_t channel, std::minstd_rand& /*random*/) {
  return channel == 0 ? x : channel == 1 ? y : 1 - x;
}

float squares(float x, float y, std::size_t /*channel*/, std::minstd_rand& /*random*/) {
  return static_cast<float>((static_cast<int>(x * 8) + static_cast<int>(y * 8)) % 2);
}

// Those that tell most come first, as a slow model sees two. Bounded numbers stay bounded beyond
// the range of a picture, too; others do not. A model that keeps an image has seen black last.
constexpr std::array<TestImage, 9> kTestImages{{{noise},
                                                {flat<1, 0, 0>, 20},
                                                {flat<1, 1, 1>},
                                                {flat<1, 0, 0>},
                                                {flat<0, 1, 0>},
                                                {flat<0, 0, 1>},
                                                {gradients},
                                                {squares},
                                                {flat<0, 0, 0>}}};

ImageTensor empty_image(const InputSpec& input) {
  ImageTensor image;
  image.width = input.width;
  image.height = input.height;
  const auto size =
      static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) * 3;
  if (input.quantization) {
    image.bytes.resize(size);
  } else {
    image.values.resize(size);
  }
  return image;
}

void set(const InputSpec& input, ImageTensor& image, std::size_t index, float value) {
  if (input.quantization) {
    image.bytes[index] = input.quantization->quantize(value);
  } else {
    image.values[index] = value;
  }
}

ImageTensor drawn(const InputSpec& input, const TestImage& test) {
  ImageTensor image = empty_image(input);
  const auto width = static_cast<std::size_t>(input.width);
  const auto height = static_cast<std::size_t>(input.height);
  const bool planar = input.layout == TensorLayout::kPlanar;
  std::minstd_rand random;
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t pixel = y * width + x;
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const float level =
            test.draw(static_cast<float>(x) / static_cast<float>(width),
                      static_cast<float>(y) / static_cast<float>(height),
                      input.channel_order == ChannelOrder::kRgb ? channel : 2 - channel, random);
        const float value = (level - input.mean[channel]) / input.std[channel] * test.contrast;
        set(input, image, planar ? channel * width * height + pixel : pixel * 3 + channel, value);
      }
    }
  }
  return image;
}

bool in_unit_range(float number) { return number >= -kRounding && number <= 1 + kRounding; }

// What the numbers of several images have in common.
class Evidence {
 public:
  // `is_picture`: no value of the image is beyond the range of a picture.
  void add(const std::vector<float>& numbers, bool is_picture) {
    const auto outside =
        std::find_if_not(numbers.begin(), numbers.end(), [](float n) { return in_unit_range(n); });
    if (outside != numbers.end()) bounded_ = false;
    if (outside != numbers.end() && is_picture) outside_ = *outside;
    const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
    if (!are_probabilities(numbers)) add_up_to_one_ = false;
    if (!are_probabilities(numbers) && is_picture && !other_sum_) other_sum_ = sum;
    if (!first_.empty() && numbers != first_) differ_ = true;
    if (first_.empty()) first_ = numbers;
  }

  ModelOutput recognised() const {
    if (add_up_to_one_ && !is_one_number()) return ModelOutput::kProbabilities;
    // Numbers that are the same for each image tell nothing.
    if (bounded_ && is_one_number()) return ModelOutput::kProbabilities;
    return bounded_ && differ_ ? ModelOutput::kSigmoid : ModelOutput::kLogits;
  }

  // What contradicts the output that is stated; empty: nothing.
  std::string contradiction(ModelOutput stated) const {
    if (stated == ModelOutput::kLogits) {
      const bool probabilities = add_up_to_one_ && differ_ && !is_one_number();
      return probabilities ? "are from 0 to 1 and add up to 1 for each test image: they are "
                             "probabilities"
                           : "";
    }
    if (outside_)
      return fmt::format("are not all from 0 to 1: a test image gives {:.4g}", *outside_);
    if (stated == ModelOutput::kSigmoid || is_one_number() || !other_sum_) return "";
    return fmt::format("do not add up to 1: those of a test image make {:.4g}", *other_sum_);
  }

 private:
  bool is_one_number() const { return first_.size() == 1; }

  bool bounded_ = true;
  bool add_up_to_one_ = true;
  bool differ_ = false;
  std::optional<float> outside_;     // of a picture: a number that is no probability
  std::optional<double> other_sum_;  // of a picture's numbers
  std::vector<float> first_;
};

// Runs the model on the test images that there is time for. Throws what the first run threw when
// all fail.
Evidence run_on_images(const RunNetwork& run, const InputSpec& input,
                       const std::function<Clock::time_point()>& now, Clock::duration& last_run) {
  Evidence evidence;
  std::exception_ptr failure;
  bool works = false;
  int runs = 0;
  const Clock::time_point start = now();
  std::vector<float> numbers;
  for (const TestImage& test : kTestImages) {
    const ImageTensor image = drawn(input, test);
    const Clock::time_point begin = now();
    if (runs >= kMinRuns && begin - start + last_run > kWarmUpLimit) break;
    try {
      run(image, numbers);
      evidence.add(numbers, test.contrast == 1);
      works = true;
    } catch (const Error&) {
      if (!failure) failure = std::current_exception();
    }
    last_run = now() - begin;
    ++runs;
  }
  if (!works) std::rethrow_exception(failure);
  return evidence;
}

Clock::duration left_of_start(Clock::duration passed) {
  return std::max<Clock::duration>(kStartLimit - passed, {});
}

}  // namespace

ImageTensor blank_image(const InputSpec& input, float value) {
  ImageTensor image = empty_image(input);
  const std::size_t size = image.bytes.size() + image.values.size();
  for (std::size_t i = 0; i < size; ++i) set(input, image, i, value);
  return image;
}

WarmUp warm_up(const std::filesystem::path& archive, const RunNetwork& run, ModelSpec& spec,
               ModelFacts& facts, const std::function<Clock::time_point()>& now) {
  const Clock::time_point start = now();
  Clock::duration last_run{};
  const Evidence evidence = run_on_images(run, spec.input, now, last_run);
  if (spec.output) {
    const std::string contradiction = evidence.contradiction(*spec.output);
    if (!contradiction.empty()) {
      refuse_model(archive, fmt::format("its output is said to be {}, but its numbers {}; leave "
                                        "out what it is, and lookout finds it out",
                                        to_text(*spec.output), contradiction));
    }
  } else {
    spec.output = evidence.recognised();
    facts.recognised_output = true;
  }
  add_opposite(spec);
  return {left_of_start(now() - start), last_run};
}

WarmUp warm_up_embedding(const RunNetwork& run, const InputSpec& input,
                         const std::function<Clock::time_point()>& now) {
  const Clock::time_point start = now();
  Clock::duration last_run{};
  run_on_images(run, input, now, last_run);
  return {left_of_start(now() - start), last_run};
}

}  // namespace lookout
