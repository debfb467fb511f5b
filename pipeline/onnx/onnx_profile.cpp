#include "pipeline/onnx/onnx_profile.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <istream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "pipeline/core/json_text.h"

namespace lookout {
namespace {

using Json = nlohmann::json;
using std::chrono::microseconds;

constexpr std::int64_t kMaxUs = std::int64_t{1} << 50;  // 35 years, which fit into nanoseconds

// The times of an event, in the profile's clock.
struct Span {
  microseconds start{};
  microseconds end{};
};

std::int64_t whole_number(const Json& event, const char* key) {
  const Json& number = event.at(key);
  if (!number.is_number_integer()) throw std::runtime_error("it has an event of an unknown kind");
  return number.get<std::int64_t>();
}

microseconds time_field(const Json& event, const char* key) {
  const std::int64_t us = whole_number(event, key);
  if (us < 0 || us > kMaxUs) throw std::runtime_error("it has an event at an impossible time");
  return microseconds(us);
}

Span span_of(const Json& event) {
  const microseconds start = time_field(event, "ts");
  return {start, start + time_field(event, "dur")};
}

pid_t thread_of(const Json& event) { return static_cast<pid_t>(whole_number(event, "tid")); }

bool contains(const Span& outer, const Span& inner) {
  return outer.start <= inner.start && inner.end <= outer.end;
}

void for_each_event(std::istream& profile, const std::function<void(const Json&)>& use) {
  profile.clear();
  profile.seekg(0);
  if (!for_each_element(profile, use)) throw std::runtime_error("it is not JSON");
}

// The runs of each thread, by their start in the profile's clock.
using Runs = std::map<pid_t, std::vector<std::pair<Span, const ProfiledRun*>>>;

// The n-th run of a thread in the profile is its n-th in `runs`. Those that the profile does not
// have are left out.
Runs match_runs(std::istream& profile, const std::vector<ProfiledRun>& runs) {
  Runs matched;
  for (const ProfiledRun& run : runs) matched[run.thread].emplace_back(Span(), &run);
  std::map<pid_t, std::size_t> seen;
  for_each_event(profile, [&](const Json& event) {
    if (event.at("cat") != "Session" || event.at("name") != "model_run") return;
    const auto thread = matched.find(thread_of(event));
    if (thread == matched.end()) return;
    const std::size_t index = seen[thread->first]++;
    if (index < thread->second.size()) thread->second[index].first = span_of(event);
  });
  for (auto& [thread, spans] : matched) {
    spans.resize(std::min(spans.size(), seen[thread]));
    std::sort(spans.begin(), spans.end(),
              [](const auto& a, const auto& b) { return a.first.start < b.first.start; });
  }
  return matched;
}

// An event is called "/features/features.3/Conv_kernel_time".
std::string node_name(const Json& event) {
  constexpr std::string_view kEnd = "_kernel_time";
  const std::string name = event.at("name");
  return name.substr(0, name.rfind(kEnd));
}

// ONNX Runtime writes the number as text.
std::uint64_t output_bytes(const Json& event) {
  const std::string size = event.at("args").value("output_size", "0");
  return std::strtoull(size.c_str(), nullptr, 10);
}

}  // namespace

void read_profile(std::istream& profile, const std::string& model,
                  const std::vector<ProfiledRun>& runs,
                  const std::function<void(const Trace::Operator&)>& add) {
  const Runs matched = match_runs(profile, runs);
  for_each_event(profile, [&](const Json& event) {
    if (event.at("cat") != "Node") return;
    const auto thread = matched.find(thread_of(event));
    if (thread == matched.end()) return;
    const Span span = span_of(event);
    const auto& spans = thread->second;
    const auto after = std::upper_bound(
        spans.begin(), spans.end(), span.start,
        [](microseconds start, const auto& run) { return start < run.first.start; });
    if (after == spans.begin()) return;
    const auto& [whole, run] = *std::prev(after);
    if (!run->frame || !contains(whole, span)) return;
    add({{model, event.at("args").at("op_name"), node_name(event), false},
         *run->frame,
         run->start + (span.start - whole.start),
         run->start + (span.end - whole.start),
         output_bytes(event)});
  });
}

}  // namespace lookout
