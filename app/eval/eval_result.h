// How often a model was right: counting, and what is said about it.
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

// One picture: the right class, and what it was taken for, best first.
struct EvaluatedPicture {
  std::string file;
  std::size_t expected = 0;            // index of the label
  std::vector<std::size_t> predicted;  // at most EvalCounts::kTop
};

struct Confusion {
  std::size_t expected = 0;
  std::size_t predicted = 0;
  std::uint64_t count = 0;
};

class EvalCounts {
 public:
  static constexpr std::size_t kTop = 5;  // predictions of a picture that are looked at

  void record(const std::string& file, std::size_t expected, const std::vector<Prediction>& top);

  const std::vector<EvaluatedPicture>& pictures() const { return pictures_; }
  std::uint64_t top1() const { return top1_; }
  std::uint64_t top5() const { return top5_; }
  // The most frequent first, those that are as frequent by their indices.
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
  std::uint64_t missing = 0;  // pictures of the set that it did not come to: it was interrupted
};

// "705 of 800, 88.12 %"; of none no percentage.
std::string share_of(std::uint64_t part, std::uint64_t all);

// With a newline at the end.
std::string to_text(const EvalReport& report);
std::string to_json(const EvalReport& report);  // one line

}  // namespace lookout
