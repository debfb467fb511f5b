// The JSON objects between the processes of lookout bench.
#include "app/bench/combination.h"

#include <gtest/gtest.h>

#include <tuple>

#include "pipeline/core/error.h"
#include "pipeline/results/statistics.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// The fields of each struct that is sent. A field that is added to one of them makes these fail to
// compile: it has to be added here, and in combination.cpp.
auto fields(const CameraControls& controls) {
  const auto& [a, b, c, d, e, f] = controls;
  return std::tuple(a, b, c, d, e, f);
}

auto fields(const SourceOptions& options) {
  const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, of_the_run] = options;
  static_cast<void>(of_the_run);  // not sent
  return std::tuple(a, b, c, fields(d), e, f, g, h, i, j, k, l, m);
}

auto fields(const View& view) {
  const auto& [a, b, c, d] = view;
  return std::tuple(a, b, c, d);
}

auto fields(const Scheduling& scheduling) {
  const auto& [a, b] = scheduling;
  return std::tuple(a, b);
}

auto fields(const CameraOptions& options) {
  const auto& [a, b, c, d, e, f, g] = options;
  return std::tuple(a, b, fields(c), d, fields(e), fields(f), g);
}

auto fields(const DeviceOptions& options) {
  const auto& [a, b, c] = options;
  return std::tuple(a, b, c);
}

auto fields(const StatedModel& stated) {
  const auto& [size, normalisation, c, d] = stated;
  const auto [width, height] = size.value_or(InputSize());
  const auto& [scale, mean, std] = normalisation;
  return std::tuple(width, height, scale, mean, std, c, d);
}

auto fields(const ModelOptions& options) {
  const auto& [a, b, c, d, e, f, g, h] = options;
  return std::tuple(a, b, fields(c), d, e, f, g, fields(h));
}

auto fields(const Combination& combination) {
  const auto& [a, b, c, d] = combination;
  return std::tuple(fields(a), fields(b), c, d);
}

auto fields(const Percentiles& percentiles) {
  const auto& [a, b, c, d] = percentiles;
  return std::tuple(a, b, c, d);
}

auto fields(const MachineState& state) {
  const auto& [a, b, c] = state;
  return std::tuple(a, b, c);
}

auto fields(const StatsSnapshot& stats) {
  const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = stats;
  return std::tuple(a, b, c, d, e, f, g, h, fields(i), fields(j), fields(k), fields(l), fields(m),
                    fields(n), o);
}

auto fields(const BenchModel& model) {
  const auto& [a, b, c, d, e, f, g, h, i, j, k, l] = model;
  return std::tuple(a, b, c, d, e, f, g, h, i, j, k, l);
}

auto fields(const RateSpread& spread) {
  const auto& [a, b] = spread;
  return std::tuple(a, b);
}

auto fields(const BenchDevice& device) {
  const auto& [a, b, c, d, e] = device;
  return std::tuple(a, b, c, d, e);
}

auto fields(const BenchResult& result) {
  const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = result;
  return std::tuple(fields(a), b, c, d, e, f, fields(g), h, i, j, fields(k.value()), fields(l),
                    fields(m), n, fields(o.value()));
}

// No field has its default.
Combination combination() {
  Combination made;
  made.camera.source = "/pictures of \xe9, which is no UTF-8";
  made.camera.name = "\"front\" caf\u00e9";
  made.camera.source_options = {320,
                                240,
                                12.5,
                                {50, 10000, 2.5, "indoor", {1.5, 2}, 4},
                                300,
                                200,
                                milliseconds(7),
                                true,
                                true,
                                true,
                                "/file",
                                true,
                                12345};
  made.camera.wait = Wait::kNo;
  made.camera.view = {180, true, true, {0.1, 0.2, 0.3, 0.4}};
  made.camera.capture = {5, {1, 3}};
  made.camera.timeout = milliseconds(3001);
  made.model.file = "m.pt";
  made.model.labels = "l.txt";
  made.model.stated = {InputSize{320, 240},
                       {PixelScale::kSigned, std::array{0.1F, 0.2F, 0.3F}, std::nullopt},
                       ChannelOrder::kBgr,
                       ModelOutput::kSigmoid};
  made.model.sha256 = {std::string(64, 'a')};
  made.model.operators = {"o.so"};
  made.model.workers = 2;
  made.model.device = {"acme", "acme.so", true};
  made.frames = 7;
  made.log_level = "debug";
  return made;
}

Percentiles percentiles(int first) {
  return {nanoseconds(first), nanoseconds(first + 1), nanoseconds(first + 2),
          nanoseconds(first + 3)};
}

BenchResult full_result() {
  BenchResult made;
  made.model = {"net",     "m.pt",       "ab", "224x224", "qint8", "XNNPACK",
                "QNNPACK", "LibTorch 1", "w",  "t 1",     false,   {"o.so, sha256 cd"}};
  made.threads = 3;
  made.auto_threads = true;
  made.workers = 2;
  made.source = "a camera";
  made.live = true;
  made.stats = {nanoseconds(1),
                29.97,
                1 / 3.0,
                4,
                5,
                6,
                7,
                8,
                percentiles(9),
                percentiles(13),
                percentiles(17),
                percentiles(21),
                percentiles(25),
                {48.5, 600, 0x50005},
                true};
  made.cpu_ms = 1 / 7.0;
  made.resident_mb = 190.25;
  made.start_s = 0.75;
  made.fps_spread = {28.5, 31.5};
  made.before = {50.5, {}, 4};
  made.after = {{}, 1500, {}};
  made.complete = false;
  made.device = BenchDevice{"acme", 1, 2, 3, 0.25};
  return made;
}

TEST(Combination, EveryFieldSurvives) {
  const Combination sent = combination();
  EXPECT_EQ(fields(combination_from_json(to_json(sent))), fields(sent));
  const Combination defaults;
  EXPECT_EQ(fields(combination_from_json(to_json(defaults))), fields(defaults));
}

TEST(Outcome, EveryFieldOfAResultSurvives) {
  Outcome sent;
  sent.result = full_result();
  const Outcome received = outcome_from_json(to_json(sent));
  ASSERT_TRUE(received.result);
  EXPECT_EQ(fields(*received.result), fields(*sent.result));
  EXPECT_EQ(received.exit_status, 0);
  EXPECT_FALSE(outcome_from_json(to_json(Outcome())).result);
}

TEST(Outcome, AFailureSurvives) {
  Outcome sent;
  sent.exit_status = 66;
  sent.failure = "no such model: \xe9.pt\n";
  const Outcome received = outcome_from_json(to_json(sent));
  EXPECT_FALSE(received.result);
  EXPECT_EQ(received.exit_status, 66);
  EXPECT_EQ(received.failure, sent.failure);
}

TEST(Outcome, AnythingElseIsRefused) {
  for (const char* text : {"", "{", "[]", "{}", "{\"result\":7}"}) {
    EXPECT_THROW(outcome_from_json(text), Error) << text;
    EXPECT_THROW(combination_from_json(text), Error) << text;
  }
}

}  // namespace
}  // namespace lookout
