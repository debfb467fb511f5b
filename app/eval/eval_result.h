// How often a model was right: the counts and the report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/result.h"
#include "pipeline/results/statistics.h"

namespace lookout {

// The right class of one picture and the predicted ones.
struct EvaluatedPicture {
  std::string file;
  std::size_t expected = 0;            // index of the label
  std::vector<std::size_t> predicted;  // indices, best first, at most EvalCounts::kTop
};

struct Confusion {
  std::size_t expected = 0;
  std::size_t predicted = 0;
  std::uint64_t count = 0;
};

class EvalCounts {
 public:
  static constexpr std::size_t kTop = 5;  // predictions of a picture that count

  void record(const std::string& file, std::size_t expected, const std::vector<Prediction>& top);

  const std::vector<EvaluatedPicture>& pictures() const { return pictures_; }
  std::uint64_t top1() const { return top1_; }
  std::uint64_t top5() const { return top5_; }
  // The most frequent ones first; equally frequent ones in the order of their indices.
  std::vector<Confusion> confusions() const;

 private:
  std::vector<EvaluatedPicture> pictures_;
  std::uint64_t top1_ = 0;
  std::uint64_t top5_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> confusions_;
};

struct EvalReport {
  std::string model;  // its name
  std::string file;   // of the archive
  std::string sha256;
  std::vector<std::string> labels;
  std::string source;
  EvalCounts counts;
  StatsSnapshot stats;        // skipped: pictures that could not be read
  std::uint64_t missing = 0;  // pictures that were not read because of an interruption
};

// "705 of 800, 88.12 %"; without a percentage when `all` is 0.
std::string share_of(std::uint64_t part, std::uint64_t all);

// With a newline at the end.
std::string to_text(const EvalReport& report);
std::string to_json(const EvalReport& report);  // one line

}  // namespace lookout
