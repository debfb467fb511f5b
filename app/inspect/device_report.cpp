#include "app/inspect/device_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/report/json.h"
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

std::string kilobytes(std::uint64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / 1e3);
}

Table calls_table(const DeviceUse& use, bool layers) {
  Table table{"", {"operator"}, {}};
  if (layers) table.head.emplace_back("layer", Shown::kEverywhere, Column::Align::kLeft);
  for (const char* name : {"device", "fallback", "moved kB", "time %"}) {
    table.head.emplace_back(name);
  }
  if (use.counts_costs) {
    for (const char* name : {"multiply-adds", "read kB", "written kB", "peak kB"}) {
      table.head.emplace_back(name);
    }
  }
  for (const DeviceCalls& calls : use.calls) {
    Row row{calls.op};
    if (layers) row.push_back(calls.layer);
    row.insert(row.end(), {std::to_string(calls.on_device), std::to_string(calls.fallen_back),
                           kilobytes(calls.bytes_moved),
                           fmt::format("{:.1f}", percent_of(calls.time, use.time))});
    if (use.counts_costs) {
      row.insert(row.end(), {std::to_string(calls.multiply_adds), kilobytes(calls.bytes_read),
                             kilobytes(calls.bytes_written), kilobytes(calls.peak_bytes)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
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

std::vector<Part> device_parts(const DeviceUse& use) {
  if (use.device.empty()) return {};
  const DeviceCalls total = total_of(use);
  Facts facts{
      {"device", fmt::format("{}, {}", use.device, use.plugin)},
      {"one frame",
       fmt::format("{} calls of operators on the device, {} fall back to the CPU: {:.1f} % of the "
                   "time, {} bytes moved; the picture {} bytes, the scores {}",
                   total.on_device, total.fallen_back, percent_of(fallen_time(use), use.time),
                   total.bytes_moved, use.bytes_in, use.bytes_out)}};
  if (use.counts_costs) {
    facts.emplace_back(
        "costs", fmt::format("{} multiply-adds, {} bytes read, {} written; at most {} bytes live, "
                             "beside {} of weights",
                             total.multiply_adds, total.bytes_read, total.bytes_written,
                             total.peak_bytes, use.resident_bytes));
  }
  return {{"",
           "",
           {std::move(facts), calls_table(by_operator(use), /*layers=*/false),
            calls_table(use, /*layers=*/true)},
           Width::kFull}};
}

}  // namespace lookout
