#include "app/inspect/device_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/report/json.h"
#include "pipeline/core/append_format.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

// The calls of all layers, one element for each operator.
DeviceUse by_operator(const DeviceUse& use) {
  DeviceUse sums = use;
  sums.calls.clear();
  for (const DeviceCalls& calls : use.calls) {
    const auto same_op = [&calls](const DeviceCalls& sum) { return sum.op == calls.op; };
    const auto before = std::find_if(sums.calls.begin(), sums.calls.end(), same_op);
    DeviceCalls& sum = before == sums.calls.end() ? sums.calls.emplace_back() : *before;
    DeviceUse both;
    both.calls = {sum, calls};
    sum = total_of(both);
    sum.op = calls.op;
  }
  return sums;
}

void add_costs(const DeviceCalls& calls, Json& json) {
  json["multiply_adds"] = calls.multiply_adds;
  json["bytes_read"] = calls.bytes_read;
  json["bytes_written"] = calls.bytes_written;
  json["peak_bytes"] = calls.peak_bytes;
}

Json calls_json(const DeviceCalls& calls, const DeviceUse& use) {
  Json json{{"device_calls", calls.on_device},
            {"fallback_calls", calls.fallen_back},
            {"bytes_moved", calls.bytes_moved},
            {"time_percent", rounded(percent_of(calls.time, use.time))}};
  if (use.counts_costs) add_costs(calls, json);
  return json;
}

Json rows_json(const DeviceUse& use, bool layers) {
  Json rows = Json::array();
  for (const DeviceCalls& calls : use.calls) {
    Json row{{"operator", calls.op}};
    if (layers) row["layer"] = calls.layer;
    row.update(calls_json(calls, use));
    rows.push_back(std::move(row));
  }
  return rows;
}

constexpr double kKilo = 1e3;

std::size_t width_of(const DeviceUse& use, std::string DeviceCalls::*text, std::size_t least) {
  for (const DeviceCalls& calls : use.calls) {
    least = std::max(least, printable(calls.*text).size());
  }
  return least;
}

std::string costs_head(const DeviceUse& use) {
  if (!use.counts_costs) return {};
  return fmt::format(" {:>13} {:>9} {:>10} {:>9}", "multiply-adds", "read kB", "written kB",
                     "peak kB");
}

std::string costs_cells(const DeviceCalls& calls, const DeviceUse& use) {
  if (!use.counts_costs) return {};
  return fmt::format(" {:>13} {:>9.1f} {:>10.1f} {:>9.1f}", calls.multiply_adds,
                     static_cast<double>(calls.bytes_read) / kKilo,
                     static_cast<double>(calls.bytes_written) / kKilo,
                     static_cast<double>(calls.peak_bytes) / kKilo);
}

std::string table(const DeviceUse& use, bool layers) {
  const std::size_t op = width_of(use, &DeviceCalls::op, std::string_view("operator").size());
  const std::size_t layer =
      layers ? width_of(use, &DeviceCalls::layer, std::string_view("layer").size()) : 0;
  std::string text = fmt::format("\n{:<{}} {:<{}} {:>6} {:>8} {:>9} {:>6}{}\n", "operator", op,
                                 layers ? "layer" : "", layer, "device", "fallback", "moved kB",
                                 "time %", costs_head(use));
  for (const DeviceCalls& calls : use.calls) {
    append_format(text, "{:<{}} {:<{}} {:>6} {:>8} {:>9.1f} {:>6.1f}{}\n", printable(calls.op), op,
                  printable(calls.layer), layer, calls.on_device, calls.fallen_back,
                  static_cast<double>(calls.bytes_moved) / kKilo, percent_of(calls.time, use.time),
                  costs_cells(calls, use));
  }
  return text;
}

std::string summary(const DeviceUse& use) {
  const DeviceCalls total = total_of(use);
  std::string text = fmt::format(
      "{:<14} {}, {}\n{:<14} {} calls of operators on the device, {} fall back to the CPU: "
      "{:.1f} % of the time, {} bytes moved; the picture {} bytes, the scores {}\n",
      "device", printable(use.device), printable(use.plugin), "one frame", total.on_device,
      total.fallen_back, percent_of(fallen_time(use), use.time), total.bytes_moved, use.bytes_in,
      use.bytes_out);
  if (!use.counts_costs) return text;
  append_format(text,
                "{:<14} {} multiply-adds, {} bytes read, {} written; at most {} bytes live, beside "
                "{} of weights\n",
                "costs", total.multiply_adds, total.bytes_read, total.bytes_written,
                total.peak_bytes, use.resident_bytes);
  return text;
}

}  // namespace

Json device_json(const DeviceUse& use) {
  if (use.device.empty()) return {};
  Json total = calls_json(total_of(use), use);
  total["fallback_time_percent"] = rounded(percent_of(fallen_time(use), use.time));
  return {{"name", use.device},
          {"plugin", use.plugin},
          {"input_bytes", use.bytes_in},
          {"output_bytes", use.bytes_out},
          {"resident_bytes", use.counts_costs ? Json(use.resident_bytes) : Json()},
          {"total", std::move(total)},
          {"operators", rows_json(by_operator(use), /*layers=*/false)},
          {"calls", rows_json(use, /*layers=*/true)}};
}

std::string device_text(const DeviceUse& use) {
  if (use.device.empty()) return {};
  return summary(use) + table(by_operator(use), /*layers=*/false) + table(use, /*layers=*/true);
}

}  // namespace lookout
