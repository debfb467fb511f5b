#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/bench/bench.h"
#include "app/eval/eval.h"
#include "app/inspect/doctor.h"
#include "app/inspect/inspect.h"
#include "app/inspect/list_cameras.h"
#include "app/inspect/trace_summary.h"
#include "app/options/options.h"
#include "app/run/log.h"
#include "app/run/run.h"
#include "pipeline/error.h"
#include "pipeline/results/format.h"
#include "platform/system/journal.h"
#include "platform/system/non_blocking_writer.h"

namespace {

std::atomic<bool> stop{false};
std::atomic<bool> operators_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal handler");

extern "C" void request_stop(int /*signal*/) { stop = true; }
extern "C" void ask_for_operators(int /*signal*/) { operators_asked = true; }

// A second signal of the same kind ends the program at once.
void handle_signals() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = ask_for_operators;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // ignored, as a parent may leave it, a child has no exit status
}

// As a whole: a signal may have ended what `text` tells of, but not this.
void print(std::string_view text) {
  std::atomic<bool> closed{false};
  lookout::NonBlockingWriter(STDOUT_FILENO, "stdout", lookout::NonBlockingWriter::WhenFull::kWait,
                             closed)
      .write(text);
}

int diagnose(const lookout::RunOptions& options) {
  const lookout::Diagnosis diagnosis = lookout::diagnose(options, lookout::local_probes());
  const bool json = options.results.format == lookout::Format::kJson;
  print(json ? lookout::to_json(diagnosis) : lookout::to_text(diagnosis));
  return diagnosis.exit_status;
}

// Returns the exit status.
int execute(const lookout::Command& command) {
  if (const auto* text = std::get_if<lookout::PrintText>(&command)) {
    print(text->text);
  } else if (const auto* inspect = std::get_if<lookout::InspectOptions>(&command)) {
    print(lookout::inspect(*inspect));
  } else if (const auto* list = std::get_if<lookout::ListCamerasOptions>(&command)) {
    print(lookout::list_cameras(*list));
  } else if (const auto* trace = std::get_if<lookout::TraceSummaryOptions>(&command)) {
    print(lookout::trace_summary(*trace));
  } else if (const auto* doctor = std::get_if<lookout::DoctorOptions>(&command)) {
    lookout::set_log_level(doctor->run.log.level);
    return diagnose(doctor->run);
  } else if (const auto* bench = std::get_if<lookout::BenchOptions>(&command)) {
    lookout::set_log_level(bench->run.log.level);
    lookout::bench(*bench, stop, print);
  } else if (const auto* eval = std::get_if<lookout::EvalOptions>(&command)) {
    lookout::set_log_level(eval->run.log.level);
    lookout::eval(*eval, stop, print);
  } else {
    const auto& options = std::get<lookout::RunOptions>(command);
    lookout::set_log_level(options.log.level);
    lookout::run(options, stop, operators_asked);
  }
  return 0;
}

int fail(const std::string& sentence, int status) {
  const char* priority = lookout::is_journal(STDERR_FILENO) ? "<3>" : "";
  std::fprintf(stderr, "%slookout: %s\n", priority, lookout::printable(sentence).c_str());
  return status;
}

int run_program(int argc, char** argv) {
  try {
    handle_signals();
    lookout::set_up_log();
    return execute(lookout::parse_command(std::vector<std::string>(argv + 1, argv + argc)));
  } catch (const lookout::Error& error) {
    return fail(error.what(), error.exit_status());
  } catch (const std::exception& error) {
    return fail(std::string("internal error: ") + error.what(),
                static_cast<int>(lookout::ErrorKind::kInternal));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int status = run_program(argc, argv);
  // Everything of ours is destroyed and written. The destructors of LibTorch's globals would take
  // longer than all the rest of stopping.
  std::fflush(nullptr);
  _exit(status);
}
