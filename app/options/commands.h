// The sub-commands. A new one is a function here, and a line in main.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/options/command_line.h"
#include "app/options/options.h"

namespace lookout {

// Returns the exit status.
template <typename Options>
using Action = std::function<int(const Options&)>;

void add_run(CommandLine& line, const CommandLine::RunAction& action);
// Reads `config` when it exists and neither --config nor LOOKOUT_CONFIG names a file.
void add_doctor(CommandLine& line,
                const std::function<int(const RunOptions&, const DoctorOptions&)>& action,
                const std::string& config = kServiceConfig);
// The commands of `lookout model`, with the service's file as add_doctor().
using ModelAction = std::function<int(const RunOptions&, const ModelCommandOptions&)>;
void add_model_install(CommandLine& line, const ModelAction& action);
void add_model_back(CommandLine& line, const ModelAction& action);
void add_model_list(CommandLine& line, const ModelAction& action);
void add_reload(CommandLine& line, const CommandLine::RunAction& action);
// As add_doctor(), with the service's file.
void add_password(CommandLine& line,
                  const std::function<int(const RunOptions&, const PasswordOptions&)>& action);
// `flags`: those that answer questions.
void add_setup(CommandLine& line, const std::vector<SetupFlag>& flags,
               const Action<SetupOptions>& action);
void add_list_cameras(CommandLine& line, const CommandLine::RunAction& action);
// As add_doctor(), with the service's file. `all_machines`: cameras of other machines, too.
void add_mqtt_forget(CommandLine& line,
                     const std::function<int(const RunOptions&, bool all_machines)>& action);
// A run without a source, and with an HTTP server.
void add_serve(CommandLine& line, const CommandLine::RunAction& action);
void add_inspect(CommandLine& line, const Action<InspectOptions>& action);
void add_bench(CommandLine& line, const Action<BenchOptions>& action);
// With --watch the next three take options of `config`, found as by add_doctor().
void add_eval(CommandLine& line, const Action<EvalOptions>& action,
              const std::string& config = kServiceConfig);
void add_train(CommandLine& line, const Action<TrainOptions>& action,
               const std::string& config = kServiceConfig);
void add_collect(CommandLine& line, const Action<CollectOptions>& action,
                 const std::string& config = kServiceConfig);
// Hidden: the program starts itself with these. `train` and `preview`: as in train_taught.h.
void add_taught_commands(CommandLine& line, const std::function<int()>& train,
                         const std::function<int()>& preview);
void add_history(CommandLine& line, const Action<HistoryViewOptions>& action);
void add_trace_summary(CommandLine& line, const Action<TraceSummaryOptions>& action);

}  // namespace lookout
