#include "app/bench/combination.h"

#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <opencv2/core/types.hpp>

#include "pipeline/core/error.h"
#include "pipeline/core/json_text.h"
#include "pipeline/results/statistics.h"

namespace nlohmann {

template <typename Value>
struct adl_serializer<std::optional<Value>> {
  static void to_json(json& json, const std::optional<Value>& value) {
    if (value) {
      json = *value;
    } else {
      json = nullptr;
    }
  }
  static void from_json(const json& json, std::optional<Value>& value) {
    if (json.is_null()) {
      value.reset();
    } else {
      value = json.get<Value>();
    }
  }
};

template <typename Count, typename Period>
struct adl_serializer<std::chrono::duration<Count, Period>> {
  using Duration = std::chrono::duration<Count, Period>;
  static void to_json(json& json, const Duration& duration) { json = duration.count(); }
  static void from_json(const json& json, Duration& duration) {
    duration = Duration(json.get<Count>());
  }
};

template <>
struct adl_serializer<cv::Rect2d> {
  static void to_json(json& json, const cv::Rect2d& rect) {
    json = {rect.x, rect.y, rect.width, rect.height};
  }
  static void from_json(const json& json, cv::Rect2d& rect) {
    rect = {json.at(0).get<double>(), json.at(1).get<double>(), json.at(2).get<double>(),
            json.at(3).get<double>()};
  }
};

}  // namespace nlohmann

namespace lookout {

// Each line defines to_json() and from_json() of a struct with all its fields.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CameraControls, flicker, shutter, gain, awb, awb_gains,
                                   lens_position)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SourceOptions, width, height, framerate, controls, needed_width,
                                   needed_height, give_up_after, wait, live, recursive, credentials,
                                   rtsp_udp, max_pixels)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(View, rotation, hflip, vflip, roi)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Scheduling, realtime_priority, cpus)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CameraOptions, source, name, source_options, wait, view, capture,
                                   timeout)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceOptions, name, plugin, forbid_fallback)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InputSize, width, height)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Normalisation, scale, mean, std)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StatedModel, size, normalisation, channels, output)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelOptions, file, labels, stated, sha256, operators, threads,
                                   workers, device)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Combination, camera, model, frames, log_level)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Percentiles, p50, p95, p99, max)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MachineState, temperature, clock_mhz, throttled)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StatsSnapshot, interval, camera_fps, classified_fps, captured,
                                   classified, dropped, skipped, in_flight, frame_age, capture,
                                   preprocess, inference, total, machine, final)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BenchModel, name, file, sha256, input, activations, kernels,
                                   engine, library, quantization, producer, trained, operators)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BenchDevice, name, calls, fallback_calls, bytes_moved,
                                   fallback_share)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RateSpread, low, high)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BenchResult, model, threads, auto_threads, workers, source, live,
                                   stats, cpu_ms, resident_mb, start_s, fps_spread, before, after,
                                   complete, device)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Outcome, result, exit_status, failure)

namespace {

// A path can hold any bytes, but JSON holds UTF-8: each byte is sent as the character of that
// number.
std::string to_characters(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(0xC0 | byte >> 6);
    text += static_cast<char>(byte >= 0x80 ? 0x80 | (byte & 0x3F) : byte);
  }
  return text;
}

std::string to_bytes(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool pair = byte >= 0x80 && i + 1 < text.size();
    bytes += pair ? static_cast<char>(byte << 6 | (text[++i] & 0x3F)) : text[i];
  }
  return bytes;
}

void change_strings(nlohmann::json& json, std::string (*change)(const std::string&)) {
  if (json.is_string()) {
    json = change(json.get<std::string>());
  } else if (json.is_structured()) {
    for (nlohmann::json& element : json) change_strings(element, change);
  }
}

template <typename Value>
std::string to_json_text(const Value& value) {
  nlohmann::json json(value);
  change_strings(json, to_characters);
  return to_text(json);
}

template <typename Value>
Value from_json_text(const std::string& text) {
  try {
    nlohmann::json json = parse_json(text);
    change_strings(json, to_bytes);
    return json.get<Value>();
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::kInternal,
                std::string("bench cannot read the message of its other process: ") + error.what());
  }
}

}  // namespace

std::string to_json(const Combination& combination) { return to_json_text(combination); }

std::string to_json(const Outcome& outcome) { return to_json_text(outcome); }

Combination combination_from_json(const std::string& json) {
  return from_json_text<Combination>(json);
}

Outcome outcome_from_json(const std::string& json) { return from_json_text<Outcome>(json); }

}  // namespace lookout
