// Results and statistics as text: pure functions of values, independent of the locale.
//
// What appends to `out` does not clear it; a string that is used again is not reallocated.
#pragma once

#include <string>
#include <vector>

#include "pipeline/camera_status.h"
#include "pipeline/result.h"
#include "pipeline/statistics.h"

namespace lookout {

double to_ms(Clock::duration duration);

// One line for people: `812 goldfish.jpg: goldfish 98.2 %, tench 0.9 % (27.1 ms)`.
void append_text(const Result& result, const std::string& origin, std::string& out);

// One line of rates, counters and percentiles for the log.
void append_text(const StatsSnapshot& stats, std::string& out);

// JSON lines, schema 1; see README.md for the fields.
class JsonFormat {
 public:
  JsonFormat(const std::string& camera, const std::string& model,
             const std::vector<std::string>& labels);

  // `{"schema":1,"type":"classification",...}` and a newline.
  void append(const Result& result, const std::string& origin, std::string& out);
  // `{"schema":1,"type":"stats",...}`, or "summary" for the final one, and a newline.
  void append(const StatsSnapshot& stats, std::string& out) const;
  // `{"schema":1,"type":"status",...}` and a newline.
  void append(const CameraStatus& status, std::string& out) const;

 private:
  std::string camera_;               // as a JSON string
  std::string source_;               // `"camera":...,"model":...`
  std::vector<std::string> labels_;  // as JSON strings
  std::string origin_;               // the last one, which most often comes again
  std::string quoted_origin_;
};

}  // namespace lookout
