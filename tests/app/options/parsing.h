// Command lines for tests of options.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/options/commands.h"
#include "pipeline/core/error.h"

namespace lookout {

// Sets a variable for one test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

// The command and options of a command line.
struct Parsed {
  std::string command;
  std::string text;  // of --help or --version
  RunOptions run;    // also for doctor and list-cameras
  InspectOptions inspect;
  BenchOptions bench;
  EvalOptions eval;
  TrainOptions train;
  CollectOptions collect;
  TraceSummaryOptions trace_summary;
  ModelCommandOptions model;
  DoctorOptions doctor;
};

// `service`: the service's configuration.
inline Parsed parse_command(const std::vector<std::string>& arguments,
                            const std::string& service = "") {
  Parsed parsed;
  CommandLine line;
  const auto keep = [&parsed](const char* command, auto& options) {
    return [&parsed, command, &options](const auto& given) {
      parsed.command = command;
      options = given;
      return 0;
    };
  };
  add_run(line, keep("run", parsed.run));
  add_inspect(line, keep("inspect", parsed.inspect));
  const auto doctor = [&parsed](const RunOptions& options, const DoctorOptions& command) {
    parsed.command = "doctor";
    parsed.run = options;
    parsed.doctor = command;
    return 0;
  };
  add_doctor(line, doctor, service);
  add_list_cameras(line, keep("list-cameras", parsed.run));
  add_serve(line, keep("serve", parsed.run));
  add_mqtt_forget(line, [&parsed](const RunOptions& options, bool /*all_machines*/) {
    parsed.command = "mqtt forget";
    parsed.run = options;
    return 0;
  });
  const auto model = [&parsed](const RunOptions& options, const ModelCommandOptions& command) {
    parsed.command = "model";
    parsed.run = options;
    parsed.model = command;
    return 0;
  };
  add_model_install(line, model);
  add_model_back(line, model);
  add_model_list(line, model);
  add_reload(line, keep("reload", parsed.run));
  add_bench(line, keep("bench", parsed.bench));
  add_eval(line, keep("eval", parsed.eval), service);
  add_train(line, keep("train", parsed.train), service);
  add_collect(line, keep("collect", parsed.collect), service);
  add_trace_summary(line, keep("trace-summary", parsed.trace_summary));
  line.run(arguments, [&parsed](std::string_view text) { parsed.text += text; });
  return parsed;
}

inline RunOptions parse_run(const std::vector<std::string>& arguments) {
  const Parsed parsed = parse_command(arguments);
  EXPECT_EQ(parsed.command, "run");
  return parsed.run;
}

inline void expect_error(const std::vector<std::string>& arguments, ErrorKind kind,
                         const std::string& named) {
  try {
    parse_command(arguments);
    FAIL() << "accepted, though it should be refused with: " << named;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find(named), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
  }
}

}  // namespace lookout
