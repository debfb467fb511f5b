#include "platform/cameras/camera_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "pipeline/core/append_format.h"
#include "platform/cameras/v4l2_picture.h"

namespace lookout {
namespace {

constexpr double kSameRate = 0.01;
constexpr std::uint32_t kMaxNumerator = 10'000;
constexpr double kWhole = 1e-6;

// The place in kReadableFormats; their number: it cannot be read.
std::ptrdiff_t cost_of(std::uint32_t fourcc) {
  return std::find_if(kReadableFormats.begin(), kReadableFormats.end(),
                      [fourcc](const auto& format) { return format.fourcc == fourcc; }) -
         kReadableFormats.begin();
}

// The first place on a grid that is not below `wanted`, or the last place.
int on_grid(int wanted, int min, int max, int step) {
  if (wanted <= min || step <= 0) return min;
  if (wanted >= max) return max;
  const int above = min + (wanted - min + step - 1) / step * step;
  return std::min(above, max);
}

struct Candidate {
  const CameraFormat* format = nullptr;
  const CameraSize* size = nullptr;
  int width = 0;
  int height = 0;
  double rate = 0;  // to ask for
  // Smaller is better; the first member that differs decides.
  int unlike = 0;  // 1: not the size that was asked for
  int small = 0;   // 1: smaller than needed
  int slow = 0;    // 1: slower than wanted
  long slowness = 0;
  std::int64_t area = 0;  // negative if too small, so that the largest wins
  std::ptrdiff_t cost = 0;

  auto key() const { return std::make_tuple(unlike, small, slow, slowness, area, cost); }
};

// The slowest rate that is fast enough, else the fastest.
double rate_to_ask(const CameraSize& size, double wanted) {
  if (size.rates.empty()) return wanted;
  if (size.any_rate) return std::clamp(wanted, size.rates.back(), size.rates.front());
  double best = size.rates.front();
  for (const double rate : size.rates) {
    if (!is_slower(rate, wanted)) best = std::min(best, rate);
  }
  return best;
}

Candidate make_candidate(const CameraFormat& format, const CameraSize& size, const ModeWish& wish) {
  const int needed_width = wish.width.value_or(wish.needed_width);
  const int needed_height = wish.height.value_or(wish.needed_height);
  Candidate made;
  made.format = &format;
  made.size = &size;
  made.width = on_grid(needed_width, size.width, size.max_width, size.width_step);
  made.height = on_grid(needed_height, size.height, size.max_height, size.height_step);
  made.rate = rate_to_ask(size, wish.framerate);
  made.unlike =
      (wish.width && *wish.width != made.width) || (wish.height && *wish.height != made.height) ? 1
                                                                                                : 0;
  made.small = made.width < needed_width || made.height < needed_height ? 1 : 0;
  made.slow = is_slower(made.rate, wish.framerate) ? 1 : 0;
  made.slowness = made.slow == 0 ? 0 : -std::lround(made.rate);
  made.area = std::int64_t{made.width} * made.height * (made.small == 0 ? 1 : -1);
  made.cost = cost_of(format.fourcc);
  return made;
}

std::string why_not(const Candidate& other, const Candidate& best, const ModeWish& wish) {
  if (other.unlike != best.unlike) return "not the size that was asked for";
  if (other.small != best.small) {
    return fmt::format("smaller than {}x{}", wish.width.value_or(wish.needed_width),
                       wish.height.value_or(wish.needed_height));
  }
  if (other.slow != best.slow || other.slowness != best.slowness) {
    return fmt::format("only {}", rate_to_text(other.rate));
  }
  if (other.area != best.area) return other.area > best.area ? "larger than needed" : "smaller";
  return fmt::format("costs more than {}", fourcc_to_text(best.format->fourcc));
}

std::string why_unreadable(const CameraFormat& format) {
  return is_bayer(format) ? "raw Bayer, which needs csi://0" : "a format that cannot be read";
}

}  // namespace

double rate_of(const FrameInterval& interval) {
  return interval.numerator == 0 ? 0 : double{1} * interval.denominator / interval.numerator;
}

FrameInterval interval_of(double fps) {
  std::uint32_t numerator = 1;
  while (numerator < kMaxNumerator &&
         std::abs(fps * numerator - std::round(fps * numerator)) > kWhole) {
    ++numerator;
  }
  return {numerator, static_cast<std::uint32_t>(std::lround(fps * numerator))};
}

bool is_slower(double given, double asked) { return given < asked * (1 - kSameRate); }

bool is_bayer(const CameraFormat& format) {
  return format.description.find("Bayer") != std::string::npos;
}

bool can_be_read(std::uint32_t fourcc) {
  return cost_of(fourcc) < static_cast<std::ptrdiff_t>(kReadableFormats.size());
}

ModeWish wish_of(const SourceOptions& options) {
  ModeWish wish;
  wish.needed_width = options.needed_width;
  wish.needed_height = options.needed_height;
  wish.width = options.width;
  wish.height = options.height;
  wish.framerate = options.framerate.value_or(wish.framerate);
  return wish;
}

std::string shortfall_of(const ModeWish& wish, int width, int height, double fps) {
  const int asked_width = wish.width.value_or(width);
  const int asked_height = wish.height.value_or(height);
  const bool slow = fps > 0 && is_slower(fps, wish.framerate);
  if (asked_width != width || asked_height != height || slow) {
    return fmt::format("asked for {}x{} at {}, the camera gives {}x{} at {}", asked_width,
                       asked_height, rate_to_text(wish.framerate), width, height,
                       rate_to_text(fps));
  }
  const bool size_was_asked_for = wish.width || wish.height;
  if (!size_was_asked_for && (width < wish.needed_width || height < wish.needed_height)) {
    return fmt::format("the model looks at {}x{} pixels, the camera gives {}x{} at most",
                       wish.needed_width, wish.needed_height, width, height);
  }
  return {};
}

std::string fourcc_to_text(std::uint32_t fourcc) {
  std::string text;
  for (int shift = 0; shift < 32; shift += 8) {
    const auto c = static_cast<char>((fourcc >> shift) & 0x7fU);
    if (c > ' ') text += c;
  }
  return text;
}

std::string to_text(const CameraSize& size) {
  const std::string min = fmt::format("{}x{}", size.width, size.height);
  if (!size.is_grid()) return min;
  return fmt::format("{}...{}x{}", min, size.max_width, size.max_height);
}

std::string rate_to_text(double fps) {
  return fps > 0 ? fmt::format("{:.4g} fps", fps) : "an unknown rate";
}

ModeChoice choose_mode(const std::vector<CameraFormat>& formats, const ModeWish& wish) {
  ModeChoice choice;
  std::vector<Candidate> candidates;
  for (const CameraFormat& format : formats) {
    for (const CameraSize& size : format.sizes) {
      if (can_be_read(format.fourcc)) {
        candidates.push_back(make_candidate(format, size, wish));
      } else {
        choice.rejected.push_back({format.fourcc, to_text(size), why_unreadable(format)});
      }
    }
  }
  const auto best =
      std::min_element(candidates.begin(), candidates.end(),
                       [](const Candidate& a, const Candidate& b) { return a.key() < b.key(); });
  if (best == candidates.end()) return choice;
  choice.mode = CameraMode{best->format->fourcc, best->width, best->height, best->rate};
  for (auto other = candidates.begin(); other != candidates.end(); ++other) {
    if (other == best) continue;
    choice.rejected.push_back(
        {other->format->fourcc, to_text(*other->size), why_not(*other, *best, wish)});
  }
  return choice;
}

std::vector<std::string> to_text(const ModeChoice& choice) {
  std::vector<std::string> lines;
  if (choice.mode) {
    lines.push_back(fmt::format("takes {}x{} {} at {}", choice.mode->width, choice.mode->height,
                                fourcc_to_text(choice.mode->fourcc),
                                rate_to_text(choice.mode->framerate)));
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const ModeChoice::Rejected& other : choice.rejected) {
    auto found = std::find_if(reasons.begin(), reasons.end(),
                              [&other](const auto& entry) { return entry.first == other.reason; });
    if (found == reasons.end()) found = reasons.insert(found, {other.reason, {}});
    std::string what = fourcc_to_text(other.fourcc);
    if (can_be_read(other.fourcc)) what.append(" ").append(other.size);
    auto& rejected = found->second;
    if (rejected.empty() || rejected.back() != what) rejected.push_back(std::move(what));
  }
  for (const auto& [reason, rejected] : reasons) {
    lines.push_back(fmt::format("not taken, {}: {}", reason, joined(rejected, ", ")));
  }
  return lines;
}

}  // namespace lookout
