// Traces that are written by hand, event by event. Times are in microseconds.
#pragma once

#include <sstream>
#include <string>

#include "app/trace/trace_report.h"
#include "paths.h"
#include "tests/support/temp_dir.h"

namespace lookout {

class WrittenTrace {
 public:
  // `arguments`: more of them, as `,"cpu_us":3`.
  WrittenTrace& slice(const std::string& category, const std::string& name, int thread,
                      double start, double duration, int frame, const std::string& arguments = "") {
    std::ostringstream text;
    text << R"({"ph":"X","cat":")" << category << R"(","name":")" << name << R"(","pid":1,"tid":)"
         << thread << R"(,"ts":)" << start << R"(,"dur":)" << duration << R"(,"args":{"frame":)"
         << frame << arguments << "}}";
    return event(text.str());
  }

  // In the double buffer.
  WrittenTrace& wait(double start, double end, int frame) {
    for (const char* phase : {"b", "e"}) {
      std::ostringstream text;
      text << R"({"ph":")" << phase << R"(","cat":"queue","name":"queue-wait","id2":{"local":")"
           << frame << R"("},"pid":1,"tid":1,"ts":)" << (*phase == 'b' ? start : end)
           << R"(,"args":{"frame":)" << frame << "}}";
      event(text.str());
    }
    return *this;
  }

  WrittenTrace& counter(const std::string& name, const std::string& unit, double time,
                        double value) {
    std::ostringstream text;
    text << R"({"ph":"C","name":")" << name << R"(","pid":1,"tid":1,"ts":)" << time
         << R"(,"args":{")" << unit << R"(":)" << value << "}}";
    return event(text.str());
  }

  WrittenTrace& event(const std::string& json) {
    events_ += (events_.empty() ? "" : ",\n") + json;
    return *this;
  }

  std::string text() const {
    return R"({"otherData":{"model":"net"},"traceEvents":[
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}},
{"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"capture"}},
)" + events_ +
           "]}";
  }

 private:
  std::string events_;
};

inline TraceSummary summarize(const std::string& json, const OutlierRule& outliers = {}) {
  std::istringstream stream(json);
  return summarize_trace(stream, outliers);
}

inline TraceSummary summarize(const WrittenTrace& trace, const OutlierRule& outliers = {}) {
  return summarize(trace.text(), outliers);
}

// Of a trace in tests/data.
inline TraceSummary summary_of(const std::string& name) {
  return summarize(read_file(std::string(LOOKOUT_TEST_DATA) + "/" + name));
}

inline std::string text_of(const TraceSummary& summary) {
  const TraceFile trace{"trace.json", summary};
  return to_text(make_report(trace));
}

}  // namespace lookout
