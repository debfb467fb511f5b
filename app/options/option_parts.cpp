#include "app/options/option_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

namespace lookout {
namespace {

const std::map<std::string, Format> kFormats{{"text", Format::kText}, {"json", Format::kJson}};
const std::map<std::string, double> kTimeUnits{
    {"ms", 1}, {"s", 1000}, {"min", 60'000}, {"h", 3'600'000}};

constexpr double kLongestTimeMs = 10.0 * 365 * 24 * 3'600'000;  // far from where clocks overflow

// Nothing when it is anything else.
template <typename Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// As CLI11 reads numbers, which takes "nan" and "inf" for some.
std::optional<double> finite_number(const std::string& text) {
  double number = 0;
  if (!CLI::detail::lexical_cast(text, number) || !std::isfinite(number)) return std::nullopt;
  return number;
}

// Nothing when it is no time. A short one does not become 0, which means something else.
// `bare_ms`: a number without a unit is milliseconds.
std::optional<std::chrono::milliseconds> parse_time(const std::string& text, bool bare_ms) {
  const auto unit = text.find_last_not_of("abcdefghijklmnopqrstuvwxyz") + 1;
  const bool bare = unit == text.size() && (bare_ms || finite_number(text) == 0);
  const auto factor = kTimeUnits.find(bare ? "ms" : text.substr(unit));
  const auto number = finite_number(CLI::detail::trim_copy(text.substr(0, unit)));
  if (!number || factor == kTimeUnits.end()) return std::nullopt;
  const double ms = *number * factor->second;
  if (!(ms >= 0 && ms <= kLongestTimeMs)) return std::nullopt;
  return std::chrono::milliseconds(ms > 0 ? std::max(std::llround(ms), 1LL) : 0);
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

// Parses `x,y,w,h`; anything but a rectangle within 0..1 gives a sentence.
std::string parse_roi(const std::string& text, cv::Rect2d& roi) {
  const std::string wrong = "expected x,y,width,height, each from 0 to 1 and inside the picture";
  std::vector<double> numbers;
  for (const std::string& part : split_at_commas(text)) {
    const auto number = parse_number<double>(part);
    if (!number) return wrong;
    numbers.push_back(*number);
  }
  if (numbers.size() != 4) return wrong;
  const double largest = 1 + 1e-9;  // 0.7 + 0.3
  roi = {numbers[0], numbers[1], numbers[2], numbers[3]};
  const bool inside = roi.x >= 0 && roi.y >= 0 && roi.width > 0 && roi.height > 0 &&
                      roi.x + roi.width <= largest && roi.y + roi.height <= largest;
  return inside ? "" : wrong;
}

}  // namespace

CLI::Validator number_within(double least, double most) {
  const std::string wrong = most == kNoLimit
                                ? fmt::format("expected a number of {} or more", least)
                                : fmt::format("expected a number from {} to {}", least, most);
  return {[least, most, wrong](const std::string& text) {
            const auto number = finite_number(text);
            return number && *number >= least && *number <= most ? "" : wrong;
          },
          ""};
}

CLI::Option* add_time(CLI::App& app, const std::string& name,
                      const std::function<void(std::chrono::milliseconds)>& set,
                      const std::string& help, const std::string& default_text,
                      std::chrono::milliseconds least) {
  const bool bare_ms = name == "-t,--timeout";  // as in rpicam-apps
  return app
      .add_option_function<std::string>(
          name,
          [set, name, least, bare_ms](const std::string& text) {
            const auto time = parse_time(text, bare_ms);
            if (!time || *time < least) {
              throw CLI::ValidationError(
                  name, fmt::format("expected a time{}, as in 500ms, 10s, 5min or 1h, of ten years "
                                    "at most",
                                    least.count() > 0 ? " above 0" : ""));
            }
            set(*time);
          },
          help)
      ->type_name("TIME")
      ->default_str(default_text);
}

CLI::Option* add_numbers(CLI::App& app, const std::string& name, std::vector<int>& numbers,
                         int least, int most, const std::string& what, const std::string& help,
                         std::optional<int> automatic) {
  return app
      .add_option_function<std::string>(
          name,
          [&numbers, name, least, most, what, automatic](const std::string& text) {
            std::vector<int> parsed;
            for (const std::string& part : split_at_commas(text)) {
              const auto number = parse_number<int>(part);
              const bool known = number && *number >= least && *number <= most;
              if (!known && !(automatic && part == "auto")) {
                throw CLI::ValidationError(
                    name, fmt::format("expected numbers of {}, as in 2,3, each from {} to {}{}",
                                      what, least, most, automatic ? ", or auto" : ""));
              }
              parsed.push_back(known ? *number : *automatic);
            }
            numbers = parsed;
          },
          help)
      ->type_name("N,N,...");
}

CLI::Option* add_format(CLI::App& app, Format& format) {
  return app.add_option("--format", format, "How results are written: text or json")
      ->transform(CLI::CheckedTransformer(kFormats).description("text|json"))
      ->default_str("text");
}

CLI::Option* add_labels(CLI::App& app, std::string& labels) {
  return app.add_option("--labels", labels, "One label a line, instead of the model's own")
      ->type_name("FILE");
}

CLI::Option* add_log_level(CLI::App& app, std::string& level) {
  return app.add_option("--log-level", level, "debug, info, warn, error or off")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}).description(""))
      ->capture_default_str();
}

void add_picture_options(CLI::App& app, RunOptions& options) {
  const std::string group = "Camera";
  app.add_option("--width", options.camera.source_options.width,
                 "Pixels to ask the camera for; not set: the least that the model makes use of")
      ->check(CLI::Range(16, 8192))
      ->group(group);
  app.add_option("--height", options.camera.source_options.height, "The same")
      ->check(CLI::Range(16, 8192))
      ->group(group);
  app.add_option("--framerate", options.camera.source_options.framerate,
                 "Frames a second to ask it for; not set: 30")
      ->check(number_within(0.1, 1000).description("FLOAT in [0.1 - 1000]"))
      ->group(group);
  app.add_option("--rotation", options.camera.view.rotation,
                 "Turn the picture clockwise: 0, 90, 180, 270")
      ->check(CLI::IsMember({0, 90, 180, 270}).description(""))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--hflip,!--no-hflip", options.camera.view.hflip,
               "Mirror left and right, after turning")
      ->group(group);
  app.add_flag("--vflip,!--no-vflip", options.camera.view.vflip,
               "Mirror top and bottom, after turning")
      ->group(group);
  app.add_option_function<std::string>(
         "--roi",
         [&options](const std::string& text) {
           const std::string wrong = parse_roi(text, options.camera.view.roi);
           if (!wrong.empty()) throw CLI::ValidationError("--roi", wrong);
         },
         "Look only at this part of the picture: x,y,width,height from 0 to 1")
      ->type_name("X,Y,W,H")
      ->default_str("0,0,1,1")
      ->group(group);
}

void add_model_options(CLI::App& app, RunOptions& options) {
  const std::string group = "Model";
  app.add_option(
         "--model", options.model.file,
         "TorchScript archive; without it the installed one: by default the self-test model, "
         "which knows only the patterns of test://all")
      ->type_name("FILE")
      ->group(group);
  add_labels(app, options.model.labels)->group(group);
  app.add_option("--threads", options.model.threads,
                 "Threads that share each frame's computation, at most: one while other programs "
                 "want the processors; auto: measured at the start")
      ->transform(
          CLI::Transformer(std::map<std::string, std::string>{{"auto", "0"}}).description("auto|N"))
      ->check(CLI::Range(0, 64).description(""))
      ->default_str("auto")
      ->type_name("")
      ->group(group);
  app.add_option("--workers", options.model.workers,
                 "Frames classified side by side, each by one thread with a copy of the model: a "
                 "higher rate, but none of them is ready sooner")
      ->check(CLI::Range(1, 64).description(""))
      ->capture_default_str()
      ->type_name("N")
      ->group(group);
}

}  // namespace lookout
