// The sub-commands. A new one is a file with an add_ function like these, and a line in main.cpp.
#pragma once

#include <functional>

#include "app/options/command_line.h"
#include "app/options/options.h"

namespace lookout {

// Returns the exit status.
template <typename Options>
using Action = std::function<int(const Options&)>;

void add_run(CommandLine& line, const CommandLine::RunAction& action);
// Reads `config` when it exists and neither --config nor LOOKOUT_CONFIG names a file.
void add_doctor(CommandLine& line, const CommandLine::RunAction& action,
                const std::string& config = kServiceConfig);
void add_list_cameras(CommandLine& line, const CommandLine::RunAction& action);
// As add_doctor(), with the service's file. `all_machines`: cameras of other machines, too.
void add_mqtt_forget(CommandLine& line,
                     const std::function<int(const RunOptions&, bool all_machines)>& action);
// A run without a source, and with an HTTP server.
void add_serve(CommandLine& line, const CommandLine::RunAction& action);
void add_inspect(CommandLine& line, Action<InspectOptions> action);
void add_bench(CommandLine& line, Action<BenchOptions> action);
void add_eval(CommandLine& line, Action<EvalOptions> action);
void add_train(CommandLine& line, Action<TrainOptions> action);
void add_collect(CommandLine& line, Action<CollectOptions> action);
void add_trace_summary(CommandLine& line, Action<TraceSummaryOptions> action);

// The flags of [model] about the input that a model takes.
void add_input_flags(Command& command, const Settings& settings);

// Values that several of them have.
Value format_value(Format& format);
Value fallback_value(bool& forbid);  // of operators, from a device to the CPU
Value log_level(std::string& level);

}  // namespace lookout
