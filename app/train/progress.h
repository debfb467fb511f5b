// How far a training is.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <string>

#include "pipeline/core/frame.h"

namespace lookout {

// The user ended the work.
class Interrupted : public std::exception {};

// One line on the terminal that stderr is, which is overwritten; elsewhere log lines, at most one
// in two seconds.
class ProgressLine {
 public:
  // `what` is counted: "pictures".
  explicit ProgressLine(std::string what);
  // Removes the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::size_t done, std::size_t all);

 private:
  std::string what_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

// "12 of 244 pictures, 8 s left"; without a time at the start.
std::string progress_text(const std::string& what, std::size_t done, std::size_t all,
                          std::chrono::duration<double> passed);

}  // namespace lookout
