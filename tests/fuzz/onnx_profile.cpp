// Bytes as a profile of ONNX Runtime: operators of the frames that ran, within their times, or an
// exception.
#include "pipeline/onnx/onnx_profile.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const lookout::Clock::time_point start(std::chrono::hours(1000));
  const std::vector<lookout::ProfiledRun> runs{{{}, 5, start},
                                               {std::uint64_t{7}, 5, start},
                                               {std::uint64_t{8}, 6, start},
                                               {std::uint64_t{9}, 5, start}};
  std::istringstream profile(std::string(reinterpret_cast<const char*>(data), size));
  try {
    lookout::read_profile(profile, "net", runs, [start](const lookout::Trace::Operator& call) {
      if (call.frame < 7 || call.frame > 9) std::abort();
      if (call.start < start || call.end < call.start) std::abort();
    });
  } catch (const std::exception&) {
  }
  return 0;
}
