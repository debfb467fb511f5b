#include "app/install/setup_command.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <system_error>
#include <utility>

#include "app/install/qr_code.h"
#include "app/install/setup_files.h"
#include "app/install/setup_questions.h"
#include "app/options/config_file.h"
#include "app/options/resolved_run.h"
#include "app/options/settings.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/json_text.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/text.h"
#include "platform/system/input_file.h"
#include "platform/system/password.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using Units = std::set<std::string>;

constexpr const char* kService = "lookout.service";
constexpr const char* kSocket = "lookout.socket";
constexpr std::chrono::seconds kResultLimit{60};  // of a service that runs
constexpr std::chrono::minutes kLoadingLimit{5};  // as TimeoutStartSec= of the unit

// No signal of a terminal comes between two steps.
class NoSignals {
 public:
  NoSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

// ---- What is there

RunOptions present_configuration(const fs::path& root) {
  RunOptions options;
  Settings settings;
  declare(settings, options);
  const fs::path file = root / fs::path(kServiceConfig).relative_path();
  std::error_code unseen;
  if (!fs::exists(file, unseen) && !unseen) {
    throw Error(ErrorKind::kNoInput,
                file.string() + " is not there: the service comes with the package lookout");
  }
  read_config_file(file, settings);
  options.config_file = file;
  return options;
}

// The path below the root.
std::string below(const fs::path& root, const fs::path& file) {
  return "/" + file.lexically_relative(root).string();
}

std::map<std::string, std::string> present_secrets(const SetupHost& host,
                                                   const SetupRecord& record) {
  std::map<std::string, std::string> secrets;
  for (const std::string& file : record.files) {
    const fs::path place = host.root / fs::path(file).relative_path();
    std::error_code unseen;
    if (fs::path(file).parent_path() != kSetupSecrets || !fs::exists(place, unseen)) continue;
    const std::string content = read_input("secret of setup", place);
    secrets[fs::path(file).filename()] = content.substr(0, content.find('\n'));
  }
  return secrets;
}

Units units_that_are(const SetupHost& host, const char* question, const char* answer) {
  Units units;
  for (const char* unit : {kService, kSocket}) {
    if (host.systemctl({question, unit}) == answer) units.insert(unit);
  }
  return units;
}

Units enabled_units(const SetupHost& host) { return units_that_are(host, "is-enabled", "enabled"); }
Units active_units(const SetupHost& host) { return units_that_are(host, "is-active", "active"); }

// ---- Who may do it

// The same with sudo.
std::string sudo_line(const SetupOptions& options) {
  std::string line = "sudo lookout setup";
  if (options.undo) line += " --undo";
  for (const SetupFlag& flag : setup_flags()) {
    const auto answer = options.answers.find(flag.key);
    if (answer == options.answers.end()) continue;
    const bool is_plain = answer->second.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "-_./:@%+=,") == std::string::npos;
    std::string quoted = printable(answer->second);
    for (auto at = quoted.find('\''); at != quoted.npos; at = quoted.find('\'', at + 4)) {
      quoted.replace(at, 1, "'\\''");
    }
    append_format(line, is_plain ? " {} {}" : " {} '{}'", flag.flag, quoted);
  }
  return options.yes ? line + " --yes" : line;
}

void require_rights(const SetupOptions& options, const SetupHost& host) {
  if (host.may_write) return;
  throw Error(ErrorKind::kPermission, "setup changes the system: " + sudo_line(options));
}

// ---- Units

void enable(const SetupHost& host, const Units& wanted) {
  const Units enabled = enabled_units(host);
  for (const char* unit : {kService, kSocket}) {
    const bool is_wanted = wanted.count(unit) > 0;
    if (is_wanted == (enabled.count(unit) > 0)) continue;
    host.systemctl({is_wanted ? "enable" : "disable", unit});
  }
}

// Starts these and stops the others. The socket has to be there before the service.
void restart(const SetupHost& host, const Units& wanted) {
  host.systemctl({"stop", kSocket, kService});
  if (wanted.count(kSocket) > 0) host.systemctl({"start", kSocket});
  if (wanted.count(kService) > 0) host.systemctl({"start", "--no-block", kService});
}

// As it was.
void restore_units(const SetupHost& host, const Units& enabled, const Units& active) {
  host.systemctl({"daemon-reload"});
  enable(host, enabled);
  restart(host, active);
}

// ---- The change

struct SetupChange {
  std::vector<PlannedFile> files;
  std::vector<std::string> stale;  // files of the last setup that are no longer needed
  Units enabled;
  Units active;
};

SetupRecord new_record(const SetupRun& run, const std::vector<PlannedFile>& files,
                       const FileChanges& disk) {
  SetupRecord record = run.before;
  if (!record.exists()) {
    record.enabled_before = enabled_units(run.host);
    record.active_before = active_units(run.host);
  }
  const auto& ours = run.before.files;
  record.files.clear();
  for (const PlannedFile& file : files) {
    const bool is_ours = std::find(ours.begin(), ours.end(), file.path) != ours.end();
    const bool is_generated = fs::path(file.path).stem() == "50-setup";
    if (is_ours || is_generated || !disk.exists(file.path)) record.files.push_back(file.path);
  }
  record.answers = run.draft.answers;
  return record;
}

SetupChange change_for(const SetupRun& run, const FileChanges& disk) {
  SetupChange change;
  const std::string password = below(run.host.root, password_file(run.config));
  change.files = planned_files(run, password);
  const SetupRecord record = new_record(run, change.files, disk);
  for (const std::string& file : run.before.files) {
    const bool is_needed =
        std::find(record.files.begin(), record.files.end(), file) != record.files.end();
    if (!is_needed && disk.exists(file)) change.stale.push_back(file);
  }
  // Also those of a setup whose record is lost, as a purge of an older package left them.
  for (const std::string file : {kServiceDropIn, kSocketDropIn}) {
    const auto has = [&file](const std::vector<std::string>& files) {
      return std::find(files.begin(), files.end(), file) != files.end();
    };
    if (!has(record.files) && !has(change.stale) && disk.exists(file)) change.stale.push_back(file);
  }
  // First: whatever comes between, --undo knows what is setup's.
  change.files.insert(change.files.begin(), {kSetupRecord, to_text(record)});
  change.active = {kService};
  if (!run.draft.has("page", "off")) change.active.insert(kSocket);
  if (run.draft.has("boot", "yes")) change.enabled = change.active;
  return change;
}

bool changes_something(const SetupChange& change, const FileChanges& disk, const SetupHost& host) {
  return !change.stale.empty() || enabled_units(host) != change.enabled ||
         active_units(host) != change.active ||
         std::any_of(change.files.begin(), change.files.end(),
                     [&disk](const PlannedFile& file) { return disk.differs(file); });
}

void write_files(const SetupChange& change, FileChanges& disk, const SetupHost& host) {
  for (const PlannedFile& file : change.files) {
    if (!disk.differs(file)) continue;
    disk.write(file);
    host.tell(fmt::format("  wrote   {}\n", file.path));
  }
  for (const std::string& file : change.stale) {
    disk.remove(file);
    host.tell(fmt::format("  removed {}\n", file));
  }
}

void apply(const SetupChange& change, FileChanges& disk, const SetupHost& host) {
  const Units enabled = enabled_units(host);
  const Units active = active_units(host);
  const NoSignals until_it_is_done;
  host.tell("\n");
  write_files(change, disk, host);
  try {
    host.systemctl({"daemon-reload"});
    enable(host, change.enabled);
    restart(host, change.active);
  } catch (const Error& error) {
    disk.take_back();
    try {
      restore_units(host, enabled, active);
    } catch (const Error&) {  // the first one tells more
    }
    throw Error(error.kind(), std::string(error.what()) + "; everything is as it was before");
  }
  disk.keep();
}

// ---- The first result

// The best class of a line of JSON; empty: it has no result.
std::string json_result(const std::string& line) {
  constexpr double kPercent = 100;
  try {
    const auto json = parse_json(line);
    const auto& results = json.at("results");
    if (results.empty()) return "unknown so far";
    const auto& best = results.at(0);
    return fmt::format("{} {:.1f} %", best.at("label").get<std::string>(),
                       best.at("score").get<double>() * kPercent);
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

// The state of a line that the service logs, else its best class: "red 99.9 %" of
// "1: red 99.9 % (5.0 ms), now red 99.9 %, was unknown", of a watch "1 gate: red 99.9 % ...". Empty
// for other lines.
std::string logged_result(const std::string& line) {
  static const std::regex result(
      R"(\d+(?: [^:]+)?: (.*? [\d.]+ %|nothing above the threshold)(.*))");
  static const std::regex state(R"(.* \([\d.]+ ms\), (?:now|state) (.*))");
  constexpr std::size_t kLongest = 4000;  // a regular expression takes the stack
  std::smatch found;
  if (line.size() > kLongest || !std::regex_match(line, found, result)) return {};
  std::string seen = found[1];
  const std::string rest = found[2];
  std::smatch known;
  if (std::regex_match(rest, known, state)) {
    seen = known[1];
    seen.resize(std::min(seen.find(", was "), seen.size()));
  }
  const bool is_class = seen.size() > 2 && seen.compare(seen.size() - 2, 2, " %") == 0;
  return is_class ? seen : "unknown so far";
}

// The last one so far; empty: none.
std::string newest_result(const std::string& journal) {
  std::istringstream lines(journal);
  std::string newest;
  for (std::string line; std::getline(lines, line);) {
    std::string result = starts_with(line, "{") ? json_result(line) : logged_result(line);
    if (!result.empty()) newest = std::move(result);
  }
  return newest;
}

Error not_running(const SetupHost& host, std::int64_t since, const std::string& what) {
  std::string log = host.journal(since);
  constexpr std::size_t kShownLog = 1500;
  if (log.size() > kShownLog) log.erase(0, log.find('\n', log.size() - kShownLog) + 1);
  host.tell(fmt::format("\n{}", log));
  return {ErrorKind::kDeviceLost,
          fmt::format("{}. What was set up stays: \"sudo lookout doctor\" and \"journalctl -u "
                      "lookout -e\" tell more, \"sudo lookout setup --undo\" removes it",
                      what)};
}

std::string wait_for_result(const SetupHost& host, std::int64_t since) {
  host.tell("\nThe service loads its model and waits for the camera ");
  const auto start = host.now();
  auto loaded = start;
  while (true) {
    const std::string state = host.systemctl({"is-active", kService});
    const std::string result = newest_result(host.journal(since));
    if (!result.empty() && state == "active") {
      host.tell(" done\n");
      return result;
    }
    const auto now = host.now();
    if (state == "activating") loaded = now;
    if (state == "failed" ||
        host.systemctl({"show", "--value", "-p", "NRestarts", kService}) > "0") {
      throw not_running(host, since, "the service does not run");
    }
    if (now > loaded + kResultLimit || now > start + kLoadingLimit) {
      throw not_running(host, since, "there is no result yet");
    }
    host.tell(".");
    host.pause();
  }
}

// ---- What is told in the end

std::vector<std::string> page_addresses(const SetupHost& host) {
  std::vector<std::string> addresses;
  if (const std::string own = host.own_address(); !own.empty()) {
    addresses.push_back(fmt::format("http://{}:{}/", own, kPagePort));
  }
  if (const std::string name = host.host_name(); !name.empty()) {
    addresses.push_back(fmt::format("http://{}.local:{}/", name, kPagePort));
  }
  return addresses;
}

std::string page_text(const SetupAnswers& answers, const SetupHost& host) {
  const std::string page = answer_to(answers, "page");
  if (page.empty() || page == "off") return {};
  if (page == "board") {
    return fmt::format(
        "Its page: http://127.0.0.1:{0}/ on this machine. From another one, first\n"
        "  ssh -L {0}:127.0.0.1:{0} {1}\n",
        kPagePort, host.host_name());
  }
  const auto addresses = page_addresses(host);
  if (addresses.empty()) return {};
  std::string text =
      fmt::format("Its page: {} (log in with the password)\n", joined(addresses, " or "));
  if (host.shows_codes) text += qr_code(addresses.front());
  return text;
}

std::string next_steps(const SetupAnswers& answers) {
  std::string text;
  if (answers.at("broker") != kNone) {
    append_format(text,
                  "Home Assistant has a device \"{}\" now: Settings, Devices & services, MQTT.\n",
                  printable(answers.at("name")));
  }
  if (answers.at("webhook") != kNone) {
    text +=
        "A message is sent when a state has lasted for 10 s. For another time, in "
        "/etc/lookout/conf.d/60-own.toml:\n"
        "  [state]\n  min-duration = \"10min\"\nand then: sudo lookout reload\n";
  }
  if (answers.at("model") == "base") {
    text += answers.at("page") == "house"
                ? "On the page, log in to teach what it shall tell apart.\n"
                : "To teach what it shall tell apart: sudo lookout setup --page house\n";
  }
  return text +
         "\"sudo lookout setup\" changes the answers, \"journalctl -fu lookout\" shows what it "
         "sees.\n";
}

void tell_end(const SetupAnswers& answers, const std::string& result, const SetupHost& host) {
  host.tell(fmt::format("\nlookout runs{}. It sees: {}\n{}{}",
                        answers.at("boot") == "yes" ? ", and starts with the machine" : "",
                        printable(result), page_text(answers, host), next_steps(answers)));
}

// ---- --show and --undo

void show(const SetupHost& host) {
  const SetupRecord record = read_setup_record(host.root);
  if (!record.exists()) {
    host.tell("Nothing is set up yet: sudo lookout setup\n");
    return;
  }
  host.tell(fmt::format("{}  {:<8} {}\n", shown_answers(record.answers), "service",
                        host.systemctl({"is-active", kService})));
  host.tell(page_text(record.answers, host));
  std::string files;
  for (const std::string& file : record.files) append_format(files, "  {}\n", file);
  host.tell("Files that setup made:\n" + files);
}

// Home Assistant forgets the camera, if the broker can be asked.
void forget_camera(const SetupRecord& record, const SetupHost& host) {
  const std::string broker = answer_to(record.answers, "broker");
  if (broker.empty() || broker == kNone) return;
  RunOptions options;
  options.camera.name = answer_to(record.answers, "name");
  options.mqtt = with_setup_password(present_configuration(host.root).mqtt, host.root);
  try {
    host.forget_camera(options);
    host.tell(fmt::format("  removed the camera \"{}\" from Home Assistant's broker\n",
                          printable(options.camera.name)));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kNoInput) return;  // it was never there
    host.tell(fmt::format("  Home Assistant keeps the camera: {}\n", error.what()));
  }
}

void undo(const SetupHost& host) {
  const SetupRecord record = read_setup_record(host.root);
  if (!record.exists()) {
    host.tell("There is nothing to undo: lookout setup has set nothing up.\n");
    return;
  }
  const Units active = active_units(host);
  host.systemctl({"stop", kSocket, kService});
  forget_camera(record, host);
  const NoSignals until_it_is_done;
  try {
    FileChanges disk(host.root);
    for (const std::string& file : record.files) {
      if (!disk.exists(file)) continue;
      disk.remove(file);
      host.tell(fmt::format("  removed {}\n", file));
    }
    disk.keep();
  } catch (const Error&) {
    restart(host, active);
    throw;
  }
  restore_units(host, record.enabled_before, record.active_before);
  FileChanges last(host.root);
  last.remove(kSetupRecord);
  last.keep();
  host.tell(
      "What setup made is removed. What was taught and collected stays in /var/lib/lookout.\n");
}

// Pictures of cameras that were tried are for whoever answers.
class PicturesRemoved {
 public:
  explicit PicturesRemoved(const SetupHost& host) : host_(host) {}
  ~PicturesRemoved() { host_.remove_pictures(); }
  PicturesRemoved(const PicturesRemoved&) = delete;
  PicturesRemoved& operator=(const PicturesRemoved&) = delete;

 private:
  const SetupHost& host_;
};

void set_up_anew(const SetupOptions& options, const SetupHost& host) {
  const PicturesRemoved at_the_end(host);
  const SetupRecord before = read_setup_record(host.root);
  const RunOptions config = present_configuration(host.root);
  SetupRun run{options, host, before, config, present_secrets(host, before), false, false, {}};
  run.has_password = !read_password_hash(password_file(config)).empty();
  run.asks = host.is_terminal && !options.yes;
  if (run.asks) {
    host.tell("Enter takes the answer in brackets. Nothing is changed before the last answer.\n");
  }
  ask_questions(run);
  FileChanges disk(host.root);
  const SetupChange change = change_for(run, disk);
  if (!changes_something(change, disk, host)) {
    host.tell(
        fmt::format("\nNothing was changed: all is set up like this, and the service runs.\n{}",
                    page_text(run.draft.answers, host)));
    return;
  }
  const std::int64_t since = std::time(nullptr);
  apply(change, disk, host);
  const auto has_changed = [&run](const char* key) {
    return answer_to(run.before.answers, key) != answer_to(run.draft.answers, key);
  };
  if (before.exists() && has_changed("name") && !has_changed("broker")) forget_camera(before, host);
  tell_end(run.draft.answers, wait_for_result(host, since), host);
}

}  // namespace

void set_up(const SetupOptions& options, const SetupHost& host) {
  if (options.show) return show(host);
  require_rights(options, host);
  if (options.undo) return undo(host);
  if (!host.is_terminal && !options.yes) {
    throw Error(ErrorKind::kUsage,
                "setup asks on a terminal; elsewhere --yes takes the proposals for what no option "
                "answers");
  }
  set_up_anew(options, host);
}

}  // namespace lookout
