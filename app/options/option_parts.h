// What the command lines of several sub-commands have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/options/options.h"

namespace lookout {

constexpr double kNoLimit = std::numeric_limits<double>::max();

// Takes a finite number from `least` to `most`. CLI::Range takes nan as well, and writes all digits
// of the numbers in its sentence.
CLI::Validator number_within(double least, double most = kNoLimit);

// An option that takes a time with its unit (--timeout without one, too: milliseconds), kept in
// milliseconds; `set` gets it.
CLI::Option* add_time(CLI::App& app, const std::string& name,
                      const std::function<void(std::chrono::milliseconds)>& set,
                      const std::string& help, const std::string& default_text = "0",
                      std::chrono::milliseconds least = std::chrono::milliseconds(0));

// An option that takes numbers, as in "2,3"; those given last count. `what`: of what they are
// numbers, for the sentence that refuses others. `automatic`: the number that "auto" stands for.
CLI::Option* add_numbers(CLI::App& app, const std::string& name, std::vector<int>& numbers,
                         int least, int most, const std::string& what, const std::string& help,
                         std::optional<int> automatic = std::nullopt);

CLI::Option* add_format(CLI::App& app, Format& format);
CLI::Option* add_labels(CLI::App& app, std::string& labels);
CLI::Option* add_log_level(CLI::App& app, std::string& level);

// What is asked of a camera, and which part of its picture is looked at.
void add_picture_options(CLI::App& app, RunOptions& options);

// --model, --labels, and how many threads compute.
void add_model_options(CLI::App& app, RunOptions& options);

// All of `run`: camera, model, results, states, and where the time goes.
void add_run_options(CLI::App& app, RunOptions& options);

// The sub-commands' own.
CLI::App* add_bench(CLI::App& app, BenchOptions& options);
CLI::App* add_eval(CLI::App& app, EvalOptions& options);

}  // namespace lookout
