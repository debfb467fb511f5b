#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/bench/bench.h"
#include "app/collect/collect.h"
#include "app/eval/eval.h"
#include "app/history/history.h"
#include "app/inspect/bundle.h"
#include "app/inspect/doctor.h"
#include "app/inspect/inspect.h"
#include "app/inspect/list_cameras.h"
#include "app/install/model_commands.h"
#include "app/install/password_command.h"
#include "app/install/reload_command.h"
#include "app/install/setup_command.h"
#include "app/install/setup_files.h"
#include "app/install/setup_questions.h"
#include "app/options/commands.h"
#include "app/output/log.h"
#include "app/run/forget_mqtt.h"
#include "app/run/run.h"
#include "app/trace/trace_command.h"
#include "app/train/train.h"
#include "app/train/train_taught.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/wake_event.h"
#include "platform/system/non_blocking_writer.h"
#include "platform/system/results_output.h"
#include "platform/system/service.h"

namespace {

std::atomic<bool> stop{false};
std::atomic<int> stop_signal{0};
std::atomic<bool> operators_asked{false};
std::atomic<bool> reload_asked{false};
std::atomic<const lookout::WakeEvent*> wake{nullptr};         // of a run; null: there is none
std::atomic<const lookout::WakeEvent*> reload_wake{nullptr};  // likewise
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "set by a signal handler");

void wake_run() {
  if (const lookout::WakeEvent* event = wake) event->wake();
}

extern "C" void request_stop(int signal) {
  stop_signal = signal;
  stop = true;
  wake_run();
}
extern "C" void ask_for_operators(int /*signal*/) {
  operators_asked = true;
  wake_run();
}
extern "C" void ask_for_reload(int /*signal*/) {
  reload_asked = true;
  if (const lookout::WakeEvent* event = reload_wake) event->wake();
}

// A descriptor from 0 to 2 that the parent closed is opened: else the next file that is opened gets
// its number, and results or log lines are written into it. Writing to a closed stdout still fails.
void open_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    static_cast<void>(open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY));
  }
}

// A second signal of the same kind ends the program at once, except SIGHUP, which a terminal that
// is closed sends twice. What nohup ignores stays ignored.
void handle_hangup(struct sigaction action) {
  struct sigaction before {};
  action.sa_flags = SA_RESTART;
  sigaction(SIGHUP, &action, &before);
  if (before.sa_handler == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  handle_hangup(action);
  action.sa_handler = ask_for_operators;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_handler = ask_for_reload;
  sigaction(SIGUSR2, &action, nullptr);
  // A service has no terminal whose end could send it.
  if (lookout::is_service()) sigaction(SIGHUP, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // of ulimit -f; writing then fails with a reason
  std::signal(SIGCHLD, SIG_DFL);  // ignored, as a parent may leave it, a child has no exit status
}

// For commands that do not look at `stop`. A signal ends them, also while they wait for a device or
// a server that never answers.
void end_by_signals() {
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler == request_stop) std::signal(SIGHUP, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (stop) std::raise(SIGTERM);
}

// Writes the whole text, even after a signal ended the work that it reports.
void print(std::string_view text) {
  std::atomic<bool> closed{false};
  lookout::NonBlockingWriter(lookout::results_fd(), "stdout",
                             lookout::NonBlockingWriter::WhenFull::kWait, closed)
      .write(text);
}

// The exit status of a command that has an end of its own: when it was interrupted, that of a
// program which the signal ended.
int status_of(bool done) { return done ? 0 : 128 + stop_signal; }

void log_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) lookout::log_warn("{}", warning);
}

// Sets the level, and then logs what is odd in the configuration.
void begin_log(const lookout::RunOptions& options) {
  lookout::set_log_level(options.log.level);
  log_warnings(options.warnings);
}

int run_doctor(const lookout::RunOptions& options, const lookout::DoctorOptions& doctor,
               const std::map<std::string, std::string>& given) {
  end_by_signals();
  lookout::set_log_level(options.log.level);
  lookout::Probes probes = lookout::local_probes();
  probes.as_service = doctor.service;
  if (!doctor.bundle.empty()) {
    const std::string list = lookout::write_bundle(doctor.bundle, options, given, probes, print);
    if (doctor.bundle == "-") {
      lookout::log_info("{}", list);
    } else {
      print(list);
    }
    return 0;
  }
  const lookout::Diagnosis diagnosis = lookout::diagnose(options, probes);
  const bool json = options.results.format == lookout::Format::kJson;
  print(json ? lookout::to_json(diagnosis) : lookout::to_text(diagnosis));
  return diagnosis.exit_status;
}

void add_measuring_commands(lookout::CommandLine& line) {
  lookout::add_bench(line, [](const lookout::BenchOptions& options) {
    lookout::set_log_level(options.log.level);
    return status_of(lookout::bench(options, stop, print));
  });
  lookout::add_eval(line, [](const lookout::EvalOptions& options) {
    lookout::set_log_level(options.log.level);
    log_warnings(options.watch.notes);
    return status_of(lookout::eval(options, stop, print));
  });
  lookout::add_trace_summary(line, [](const lookout::TraceSummaryOptions& options) {
    end_by_signals();
    lookout::trace_summary(options, print);
    return 0;
  });
}

void add_training_commands(lookout::CommandLine& line) {
  lookout::add_collect(line, [](const lookout::CollectOptions& options) {
    lookout::set_log_level(options.log.level);
    log_warnings(options.watch.notes);
    lookout::collect(options, stop);
    return 0;
  });
  lookout::add_train(line, [](const lookout::TrainOptions& options) {
    lookout::set_log_level(options.log.level);
    log_warnings(options.watch.notes);
    return status_of(lookout::train(options, stop, print));
  });
  lookout::add_taught_commands(
      line,
      [] {
        end_by_signals();
        return lookout::train_taught(std::cin, print);
      },
      [] {
        end_by_signals();
        return lookout::preview_taught(print);
      });
}

// What the same command line says now.
lookout::Configuration read_again(const std::vector<std::string>& arguments) {
  lookout::CommandLine line;
  lookout::Configuration read;
  const auto take = [&read, &line](const lookout::RunOptions& options) {
    read = {options, line.given()};
    return 0;
  };
  lookout::add_run(line, take);
  lookout::add_serve(line, take);
  line.run(arguments, [](std::string_view) {});
  return read;
}

void add_model_commands(lookout::CommandLine& line) {
  const auto with_service = [](const auto& command) {
    return [command](const lookout::RunOptions& options,
                     const lookout::ModelCommandOptions& command_options) {
      end_by_signals();
      begin_log(options);
      print(command(options, command_options, lookout::local_service(options.config_file)));
      return 0;
    };
  };
  lookout::add_model_install(line, with_service(lookout::install_model));
  lookout::add_model_back(line, with_service(lookout::put_model_back));
  lookout::add_model_list(line, with_service(lookout::list_models));
  lookout::add_reload(line, [](const lookout::RunOptions& options) {
    end_by_signals();
    begin_log(options);
    print(lookout::reload_service(options, lookout::local_service(options.config_file)));
    return 0;
  });
  lookout::add_password(line, [](const lookout::RunOptions& options,
                                 const lookout::PasswordOptions& password_options) {
    end_by_signals();
    begin_log(options);
    print(lookout::change_password(options, password_options, lookout::standard_input()));
    return 0;
  });
  lookout::add_setup(line, lookout::setup_flags(), [](const lookout::SetupOptions& options) {
    end_by_signals();
    lookout::set_log_level("warn");
    lookout::set_up(options, lookout::local_setup_host(options.root, print));
    return 0;
  });
}

void add_commands(lookout::CommandLine& line, const std::vector<std::string>& arguments) {
  const auto run = [&line, arguments](const lookout::RunOptions& options) {
    begin_log(options);
    static const lookout::WakeEvent run_wake;
    static const lookout::WakeEvent wake_of_reload;
    wake = &run_wake;
    reload_wake = &wake_of_reload;
    lookout::run(options, stop, operators_asked, run_wake,
                 {line.given(), [arguments] { return read_again(arguments); }, reload_asked,
                  wake_of_reload});
    return 0;
  };
  lookout::add_run(line, run);
  lookout::add_serve(line, run);
  lookout::add_inspect(line, [](const lookout::InspectOptions& options) {
    end_by_signals();
    print(lookout::inspect(options));
    return 0;
  });
  lookout::add_doctor(
      line, [&line](const lookout::RunOptions& options, const lookout::DoctorOptions& doctor) {
        return run_doctor(options, doctor, line.given());
      });
  lookout::add_mqtt_forget(line, [](const lookout::RunOptions& options, bool all_machines) {
    end_by_signals();
    begin_log(options);
    lookout::RunOptions of_service = options;
    if (options.config_file == lookout::kServiceConfig) {
      of_service.mqtt = lookout::with_setup_password(options.mqtt);
    }
    print(lookout::forget_mqtt(of_service, all_machines));
    return 0;
  });
  lookout::add_history(line, [](const lookout::HistoryViewOptions& options) {
    end_by_signals();
    lookout::show_history(options, print);
    return 0;
  });
  add_model_commands(line);
  lookout::add_list_cameras(line, [](const lookout::RunOptions& options) {
    end_by_signals();
    begin_log(options);
    print(lookout::list_cameras({options}));
    return 0;
  });
  add_training_commands(line);
  add_measuring_commands(line);
}

int fail(const std::string& sentence, int status) {
  lookout::print_last_sentence(sentence);
  return status;
}

int run_program(int argc, char** argv) {
  try {
    handle_signals();
    lookout::set_up_log();
    lookout::CommandLine line;
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    add_commands(line, arguments);
    return line.run(arguments, print);
  } catch (const lookout::Error& error) {
    return fail(error.what(), error.exit_status());
  } catch (const std::exception& error) {
    return fail(std::string("internal error: ") + error.what(),
                static_cast<int>(lookout::ErrorKind::kInternal));
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  lookout::keep_stdout_for_results();
  const int status = run_program(argc, argv);
  // Everything of ours is destroyed and written. The destructors of LibTorch's globals would take
  // longer than all the rest of stopping.
  lookout::flush_log();
  std::fflush(nullptr);
  _exit(status);
}
