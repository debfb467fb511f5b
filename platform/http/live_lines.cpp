#include "platform/http/live_lines.h"

#include <fmt/format.h>

namespace lookout {
namespace {

std::string or_null(std::string line) { return line.empty() ? "null" : std::move(line); }

std::string about(const RunInfo& info) {
  return fmt::format(R"({{"version":"{}","source":{},"region":{},"archive":{}}})", LOOKOUT_VERSION,
                     to_json(info.source), or_null(info.region), or_null(info.archive));
}

}  // namespace

LiveLines::LiveLines(const LiveSlots& slots, const RunInfo& info)
    : slots_(slots), camera_(to_json(info.camera)), about_(about(info)), format_(info) {}

std::string LiveLines::classification() {
  std::string line;
  if (const auto result = slots_.result()) format_.append(result->result, result->origin, line);
  return without_newline(std::move(line));
}

std::string LiveLines::state() {
  const auto change = slots_.last_change();
  return change && slots_.status().online ? state(*change) : std::string();
}

std::string LiveLines::state(const LiveResult& change) {
  std::string line;
  format_.append_state(change.result, change.origin, line);
  return without_newline(std::move(line));
}

std::string LiveLines::stats() {
  std::string line;
  if (const auto stats = slots_.stats()) format_.append(*stats, line);
  return without_newline(std::move(line));
}

std::string LiveLines::status() {
  std::string line;
  format_.append(slots_.status(), line);
  return without_newline(std::move(line));
}

std::string LiveLines::all() {
  return fmt::format(R"({{"camera":{},"about":{},"result":{},"state":{},"stats":{},"status":{}}})",
                     camera_, about_, or_null(classification()), or_null(state()), or_null(stats()),
                     or_null(status()));
}

}  // namespace lookout
