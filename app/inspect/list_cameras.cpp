#include "app/inspect/list_cameras.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "app/model/models.h"
#include "app/options/resolved_run.h"
#include "app/options/watches.h"
#include "app/report/json.h"
#include "pipeline/core/append_format.h"
#include "pipeline/results/format.h"
#include "platform/cameras/camera_mode.h"
#include "platform/cameras/libcamera_loader.h"
#include "platform/cameras/sensor_mode.h"

namespace lookout {
namespace {

// The way to use a node that `run` cannot open; empty: there is none.
const char* advice(NodeKind kind) { return needs_libcamera(kind) ? "use csi://0" : ""; }

const char* json_name(NodeKind kind) {
  constexpr std::array kNames{"camera",          "bayer",    "pipeline", "codec",
                              "image-processor", "metadata", "other"};  // as in NodeKind
  return kNames.at(static_cast<std::size_t>(kind));
}

// "640x480 30 25 15 fps".
std::string size_and_rates(const CameraSize& size) {
  if (size.rates.empty()) return to_text(size);
  std::vector<std::string> rates;
  for (const double rate : size.rates) rates.push_back(fmt::format("{:.4g}", rate));
  return fmt::format("{} {} fps", to_text(size), joined(rates, size.any_rate ? "..." : " "));
}

using TextLines = std::vector<std::string>;

void append_formats(const CameraNode& node, TextLines& lines) {
  TextLines unreadable;
  for (const CameraFormat& format : node.formats) {
    if (!can_be_read(format.fourcc)) {
      unreadable.push_back(fourcc_to_text(format.fourcc));
      continue;
    }
    lines.push_back(fmt::format("    {:<4} {}", fourcc_to_text(format.fourcc), format.description));
    for (const CameraSize& size : format.sizes) lines.push_back("      " + size_and_rates(size));
  }
  if (unreadable.empty()) return;
  lines.push_back("    formats that lookout cannot read: " + joined(unreadable, " "));
}

void append_node(const CameraNode& node, const ModeWish& wish, TextLines& lines) {
  if (!node.problem.empty()) {
    lines.push_back(node.path + ": " + node.problem);
    return;
  }
  const std::string way_out = *advice(node.kind) == 0 ? "" : fmt::format(": {}", advice(node.kind));
  lines.push_back(fmt::format("{}: {} ({}, {}), {}{}", node.path, node.info.card, node.info.driver,
                              node.info.bus, to_text(node.kind), way_out));
  for (const std::string& link : node.links) lines.push_back("    " + link);
  if (node.kind != NodeKind::kCamera) return;
  append_formats(node, lines);
  const ModeChoice choice = choose_mode(node.formats, wish);
  lines.push_back("    run " + (choice.mode ? to_text(choice).front() : "finds no format to read"));
}

// "640x480, 10 bit, up to 206.6 fps, 39 % of the field's width and 39 % of its height".
std::string mode_rate_and_field(const GrantedSensorMode& mode) {
  std::string text = to_text(mode.mode);
  if (mode.max_fps > 0) text += ", up to " + rate_to_text(mode.max_fps);
  if (const std::string field = field_to_text(mode); !field.empty()) text += ", " + field;
  return text;
}

// The modes of a CSI camera; none where they were not asked for.
SensorModes modes_of(const Cameras& cameras, const LibcameraCamera& camera) {
  const auto found = cameras.csi_modes.find(camera.id);
  return found == cameras.csi_modes.end() ? SensorModes() : found->second;
}

void append_csi(std::size_t number, const Cameras& cameras, TextLines& lines) {
  const LibcameraCamera& camera = cameras.csi[number];
  lines.push_back(
      fmt::format("csi://{}: {} ({}), through libcamera", number, camera.model, camera.id));
  const SensorModes modes = modes_of(cameras, camera);
  if (!modes.problem.empty()) lines.push_back("    its modes are not known: " + modes.problem);
  for (const GrantedSensorMode& mode : modes.modes) {
    lines.push_back("    " + mode_rate_and_field(mode));
  }
  if (modes.taken) lines.push_back("    run takes the mode " + to_text(*modes.taken));
}

Json to_json(const CameraSize& size) {
  Json json{{"width", size.width}, {"height", size.height}};
  if (size.is_grid()) {
    json["most_width"] = size.max_width;
    json["most_height"] = size.max_height;
    json["width_step"] = size.width_step;
    json["height_step"] = size.height_step;
  }
  json["rates"] = size.rates;
  json["any_rate"] = size.any_rate;
  return json;
}

Json to_json(const CameraFormat& format) {
  Json sizes = Json::array();
  for (const CameraSize& size : format.sizes) sizes.push_back(to_json(size));
  return {{"format", fourcc_to_text(format.fourcc)},
          {"description", format.description},
          {"readable", can_be_read(format.fourcc)},
          {"sizes", std::move(sizes)}};
}

Json to_json(const ModeChoice& choice) {
  Json rejected = Json::array();
  for (const auto& other : choice.rejected) {
    rejected.push_back(
        {{"format", fourcc_to_text(other.fourcc)}, {"size", other.size}, {"reason", other.reason}});
  }
  Json json{{"taken", nullptr}, {"rejected", std::move(rejected)}};
  if (choice.mode) {
    json["taken"] = {{"format", fourcc_to_text(choice.mode->fourcc)},
                     {"width", choice.mode->width},
                     {"height", choice.mode->height},
                     {"framerate", choice.mode->framerate}};
  }
  return json;
}

Json number_or_null(double number) { return number > 0 ? Json(rounded(number)) : Json(); }

Json to_json(const SensorModes& modes) {
  Json list = Json::array();
  for (const GrantedSensorMode& mode : modes.modes) {
    list.push_back({{"width", mode.mode.width},
                    {"height", mode.mode.height},
                    {"bits", mode.mode.bits > 0 ? Json(mode.mode.bits) : Json()},
                    {"max_fps", number_or_null(mode.max_fps)},
                    {"field_width", number_or_null(mode.field_width)},
                    {"field_height", number_or_null(mode.field_height)},
                    {"taken", mode.mode == modes.taken}});
  }
  return list;
}

Json csi_to_json(std::size_t number, const Cameras& cameras) {
  const LibcameraCamera& camera = cameras.csi[number];
  const SensorModes modes = modes_of(cameras, camera);
  Json json{{"source", fmt::format("csi://{}", number)}};
  if (!modes.problem.empty()) json["problem"] = modes.problem;
  json["kind"] = "camera";
  json["card"] = camera.model;
  json["id"] = camera.id;
  json["sensor_modes"] = to_json(modes);
  return json;
}

Json to_json(const CameraNode& node, const ModeWish& wish) {
  Json json{{"source", node.path}, {"links", node.links}};
  if (!node.problem.empty()) {
    json["problem"] = node.problem;
    return json;
  }
  json["kind"] = json_name(node.kind);
  json["card"] = node.info.card;
  json["driver"] = node.info.driver;
  json["bus"] = node.info.bus;
  if (*advice(node.kind) != 0) json["advice"] = advice(node.kind);
  Json formats = Json::array();
  for (const CameraFormat& format : node.formats) formats.push_back(to_json(format));
  json["formats"] = std::move(formats);
  if (node.kind == NodeKind::kCamera) json["choice"] = to_json(choose_mode(node.formats, wish));
  return json;
}

Json to_json(const Cameras& cameras, const ModeWish& wish) {
  Json list = Json::array();
  for (std::size_t i = 0; i < cameras.csi.size(); ++i) list.push_back(csi_to_json(i, cameras));
  for (const CameraNode& node : cameras.nodes) list.push_back(to_json(node, wish));
  Json report{{"schema", 1}, {"type", "cameras"}, {"cameras", std::move(list)}};
  if (!cameras.csi_problem.empty()) report["csi_problem"] = cameras.csi_problem;
  return report;
}

TextLines lines_of(const Cameras& cameras, const ModeWish& wish) {
  if (cameras.nodes.empty() && cameras.csi.empty()) {
    return {"no camera: there is no /dev/video* at all; lookout 'test://all' needs none"};
  }
  TextLines lines;
  for (std::size_t i = 0; i < cameras.csi.size(); ++i) append_csi(i, cameras, lines);
  for (const CameraNode& node : cameras.nodes) append_node(node, wish, lines);
  const std::string missed = missed_csi(cameras);
  if (!missed.empty()) lines.push_back(missed);
  return lines;
}

}  // namespace

Report make_report(const Cameras& cameras, const ModeWish& wish) {
  Report report;
  report.kind = "lookout list-cameras";
  report.head = lines_of(cameras, wish);
  report.json = [&cameras, wish] { return to_json(cameras, wish); };
  return report;
}

ModeWish wish_of_run(const RunOptions& options) {
  std::vector<SourceOptions> wishes;
  for (const Watch& watch : watches_of(options)) {
    const ModelOptions& model = watch.options.model;
    const ModelSpec spec =
        read_spec(read_archive(model), read_labels(model.labels), stated_model(model));
    wishes.push_back(source_options(watch.options.camera, spec.input));
  }
  return wish_of(largest(wishes));
}

std::string list_cameras(const ListCamerasOptions& options) {
  Cameras cameras = find_cameras();
  const ModeWish wish = wish_of_run(options.run);
  if (!cameras.csi.empty()) cameras.csi_modes = list_csi_modes(wish);
  const Report report = make_report(cameras, wish);
  return options.run.results.format == Format::kJson ? to_json(report) : to_text(report);
}

}  // namespace lookout
