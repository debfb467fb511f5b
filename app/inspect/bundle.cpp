#include "app/inspect/bundle.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "app/inspect/inspect.h"
#include "app/inspect/list_cameras.h"
#include "app/inspect/masking.h"
#include "app/inspect/service_metrics.h"
#include "app/options/config_file.h"
#include "app/options/resolved_run.h"
#include "app/options/watches.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/printable.h"
#include "platform/http/metrics_key.h"
#include "platform/system/atomic_file.h"
#include "platform/system/child_process.h"
#include "platform/system/input_file.h"
#include "platform/system/password.h"
#include "platform/system/paths_in.h"
#include "platform/system/process.h"
#include "platform/system/results_output.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxEntry = 16 << 20;  // bytes
constexpr int kBundleJournalLines = 1000;
constexpr std::chrono::seconds kPatience{10};  // with another program

// Of a file of /proc or /sys, whose size is not known; empty: it cannot be read.
std::string small_file(const fs::path& path) {
  constexpr std::size_t kMost = 64 << 10;
  std::ifstream file(path);
  std::string text(kMost, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::string one_line(const fs::path& path) {
  std::string text = small_file(path);
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

// What a program of the system says, or why it says nothing.
std::string said_by(const std::vector<std::string>& command) {
  const auto end = Clock::now() + kPatience;
  ProcessOutput answer = capture_process(command, {}, [end] { return Clock::now() > end; });
  if (!answer.out.empty()) return std::move(answer.out);
  const std::string why = answer.err.empty() ? answer.problem : answer.err;
  return fmt::format("{} says nothing{}{}\n", command.front(), why.empty() ? "" : ": ", why);
}

// What `tell` returns, or why it cannot.
template <typename Tell>
std::string text_or_reason(Tell tell) {
  try {
    return tell();
  } catch (const std::exception& error) {
    return fmt::format("not known: {}\n", error.what());
  }
}

std::string version_text() {
  return fmt::format("lookout {}\n\n{}", LOOKOUT_VERSION,
                     said_by({"dpkg-query", "--show", "lookout*", "libtorch*", "libonnxruntime*",
                              "libcamera*", "libmosquitto1"}));
}

// ---- The machine

void append_sensors(std::string& text) {
  for (const fs::path& zone : paths_in("/sys/class/thermal")) {
    const std::string value = one_line(zone / "temp");
    if (value.empty()) continue;
    append_format(text, "{} ({}): {} m°C\n", zone.filename().string(), one_line(zone / "type"),
                  value);
  }
  for (const fs::path& device : paths_in("/sys/class/hwmon")) {
    for (const fs::path& file : paths_in(device)) {
      const std::string name = file.filename();
      const bool is_sensor = name.rfind("temp", 0) == 0 || name.rfind("in", 0) == 0;
      if (!is_sensor || name.find('_') == std::string::npos) continue;
      append_format(text, "{} {}: {}\n", one_line(device / "name"), name, one_line(file));
    }
  }
}

void append_room(const char* folder, std::string& text) {
  struct statvfs room {};
  if (statvfs(folder, &room) != 0) return;
  constexpr std::uint64_t kMegabyte = 1 << 20;
  append_format(text, "{}: {} MB of {} MB are free{}\n", folder,
                std::uint64_t{room.f_bavail} * room.f_frsize / kMegabyte,
                std::uint64_t{room.f_blocks} * room.f_frsize / kMegabyte,
                (room.f_flag & ST_RDONLY) != 0 ? ", read-only" : "");
}

std::string system_text(const SystemInfo& system) {
  struct utsname kernel {};
  uname(&kernel);
  std::string text =
      fmt::format("board: {}\ncpu: {}\nkernel: {} {} {}\nuptime: {}\nload: {}\n\n", system.board,
                  system.cpu, kernel.release, kernel.version, kernel.machine,
                  one_line("/proc/uptime"), one_line("/proc/loadavg"));
  append_sensors(text);
  append_room("/", text);
  append_room("/var/lib", text);
  append_room("/tmp", text);
  return text + "\n" + small_file("/etc/os-release") + "\n" + small_file("/proc/meminfo") + "\n" +
         small_file("/proc/cpuinfo");
}

// ---- The configuration

std::vector<std::string> variables() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  return all;
}

std::string settings_text(const RunOptions& options,
                          const std::map<std::string, std::string>& given) {
  std::string text = options.config_file.empty() ? "no file is read\n" : options.config_file + "\n";
  for (const std::string& file : drop_ins_of(options.config_file)) text += file + "\n";
  text += "\nWhat is set, by the files, the environment or the command line:\n";
  for (const auto& [name, value] : given) {
    append_format(text, "{} = {}\n", name, shown_setting(name, value));
  }
  text += "\nVariables of the environment:\n";
  for (const std::string& variable : variables()) {
    if (variable.rfind("LOOKOUT_", 0) != 0) continue;
    text += variable.substr(0, variable.find('=')) + "\n";
  }
  return text;
}

std::string models_text(const RunOptions& options) {
  std::string text;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Watch& watch : watches_of(options)) {
    InspectOptions inspected;
    inspected.model = watch.options.model;
    if (!seen.emplace(inspected.model.file, inspected.model.labels).second) continue;
    text += text_or_reason([&] { return inspect(inspected); }) + "\n";
  }
  return text;
}

// ---- The service

std::string journal_text(const std::string& unit) {
  return said_by({"journalctl", "--no-pager", "--output=short-iso-precise", "--unit=" + unit,
                  fmt::format("--lines={}", kBundleJournalLines)});
}

std::string kernel_text() {
  return said_by({"journalctl", "--no-pager", "--output=short-iso-precise", "--dmesg",
                  "--lines=200",
                  "--grep=voltage|thrott|mmc|oom|out of memory|unicam|v4l|usb.*disconnect"});
}

// Where the socket of the service listens on this machine; empty: nowhere.
std::string address_of_socket(const std::string& unit) {
  std::istringstream sockets(
      said_by({"systemctl", "show", "--property=Listen", "--value", unit + ".socket"}));
  std::string address;
  sockets >> address;
  return address.rfind('/', 0) == 0 ? "unix:" + address : address;
}

// What the server lets its owner in by. Empty: nothing, or nothing that this user may read.
std::string bearer_of_service(const RunOptions& options) {
  try {
    if (!options.http.token_file.empty()) {
      return first_line(read_secret("http.token-file", options.http.token_file));
    }
    const std::string hash = read_password_hash(password_file(options));
    return hash.empty() ? "" : metrics_key(hash);
  } catch (const Error&) {
    return {};
  }
}

// A client would start a service that is stopped. Where none runs, an address may be that of a run
// of the user, or of somebody else, who gets no secret; a container has no systemd, and nobody
// else.
std::string metrics_text(const RunOptions& options, const std::string& unit,
                         const Diagnosis& diagnosis) {
  const auto& services = diagnosis.services;
  const bool runs = std::any_of(services.begin(), services.end(), [&](const ServiceState& service) {
    return service.unit == unit + ".service" && service.state == "active";
  });
  std::string address = options.http.address;
  if (address.empty() && runs) address = address_of_socket(unit);
  if (address.empty()) return "no server of the service runs\n";
  const bool is_its_own = runs || !diagnosis.system.systemd;
  return metrics_at(address, is_its_own ? bearer_of_service(options) : "");
}

std::string trace_text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return "there is none yet\n";
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (text.size() > kMaxEntry) return fmt::format("left out: it has {} bytes\n", text.size());
  return text;
}

std::string read_me(const std::vector<BundleEntry>& entries) {
  std::string text =
      "What `lookout doctor --bundle` found on one machine. Passwords, tokens, addresses beyond "
      "their\nhosts and arguments of commands are masked as ***; files with secrets are not in "
      "it.\n\n";
  for (const BundleEntry& entry : entries) {
    append_format(text, "{:>9}  {}\n", entry.content.size(), entry.name);
  }
  return text;
}

// ---- The file

template <std::size_t kSize>
void put_field(std::array<char, 512>& header, std::size_t at, const std::string& text) {
  std::copy_n(text.begin(), std::min(text.size(), kSize), header.begin() + static_cast<long>(at));
}

std::array<char, 512> tar_header(const std::string& path, std::size_t size, std::int64_t time) {
  std::array<char, 512> header{};
  put_field<100>(header, 0, path);
  put_field<8>(header, 100, "0000644");
  put_field<8>(header, 108, "0000000");
  put_field<8>(header, 116, "0000000");
  put_field<12>(header, 124, fmt::format("{:011o}", size));
  put_field<12>(header, 136, fmt::format("{:011o}", time));
  put_field<8>(header, 148, "        ");
  put_field<1>(header, 156, "0");
  put_field<8>(header, 257, std::string("ustar\00000", 8));
  unsigned int sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  put_field<8>(header, 148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

std::string compressed(const std::string& bytes) {
  const MemoryFile input;
  const MemoryFile output;
  const MemoryFile errors;
  for (std::size_t written = 0; written < bytes.size();) {
    const auto count = pwrite(input.fd(), bytes.data() + written, bytes.size() - written,
                              static_cast<off_t>(written));
    if (count <= 0) throw Error(ErrorKind::kInternal, "there is no memory for the bundle");
    written += static_cast<std::size_t>(count);
  }
  ChildProcess gzip({{"gzip", "--stdout"}, {}, {input.fd(), output.fd(), errors.fd()}});
  constexpr std::chrono::minutes kLongest{5};
  gzip.wait(kLongest);
  if (const int status = gzip.kill(); status != 0) {
    throw Error(ErrorKind::kInternal,
                fmt::format("gzip: {}: {}", describe_end(status), errors.first_line()));
  }
  return output.content();
}

}  // namespace

std::vector<BundleEntry> collect_bundle(const RunOptions& options,
                                        const std::map<std::string, std::string>& given,
                                        const Diagnosis& diagnosis) {
  const Masking masking(given, variables());
  const std::string config = fs::path(options.config_file).stem();
  const std::string unit = config.empty() || config == "lookout" ? "lookout" : "lookout@" + config;
  std::vector<BundleEntry> entries;
  const auto add = [&](const std::string& name, const std::function<std::string()>& tell) {
    entries.push_back({name, masking.masked(text_or_reason(tell))});
  };
  add("version.txt", version_text);
  add("doctor.txt", [&] { return to_text(diagnosis); });
  add("doctor.json", [&] { return to_json(diagnosis); });
  add("system.txt", [&] { return system_text(diagnosis.system); });
  add("configuration.txt", [&] { return settings_text(options, given); });
  add("models.txt", [&] { return models_text(options); });
  add("cameras.txt", [&] { return list_cameras({options}); });
  add("journal.txt", [&] { return journal_text(unit); });
  add("kernel.txt", kernel_text);
  add("metrics.txt", [&] { return metrics_text(options, unit, diagnosis); });
  if (const std::string& trace = options.profile.trace; !trace.empty()) {
    add("trace.json", [&] { return trace_text(trace); });
  }
  entries.insert(entries.begin(), {"README.txt", read_me(entries)});
  return entries;
}

std::string to_tar(const std::vector<BundleEntry>& entries, const std::string& folder,
                   std::int64_t time) {
  constexpr std::size_t kBlock = 512;
  std::string tar;
  for (const BundleEntry& entry : entries) {
    const auto header = tar_header(folder + "/" + entry.name, entry.content.size(), time);
    tar.append(header.data(), header.size());
    tar += entry.content;
    tar.append((kBlock - entry.content.size() % kBlock) % kBlock, '\0');
  }
  return tar + std::string(2 * kBlock, '\0');
}

std::string write_bundle(const std::string& file, const RunOptions& options,
                         const std::map<std::string, std::string>& given, const Probes& probes,
                         const std::function<void(std::string_view)>& print) {
  const bool to_stdout = file == "-";
  if (to_stdout && isatty(results_fd()) != 0) {
    throw Error(ErrorKind::kUsage,
                "--bundle -: stdout is a terminal: name a file, or send it to another program");
  }
  std::optional<AtomicFile> output;
  if (!to_stdout) output.emplace("bundle", file);
  const auto entries = collect_bundle(options, given, diagnose(options, probes));
  const std::time_t now = std::time(nullptr);
  const std::string folder = fmt::format("lookout-{:%Y%m%d-%H%M%S}", fmt::gmtime(now));
  const std::string archive = compressed(to_tar(entries, folder, now));
  if (output) {
    output->save([&](const WritePart& write) { write(archive); }, FileAccess{});
  } else {
    print(archive);
  }
  std::string list;
  for (const BundleEntry& entry : entries) {
    append_format(list, "{:>9}  {}\n", entry.content.size(), entry.name);
  }
  append_format(list, "{} ({} bytes): look at it before you send it (tar -xzf)\n",
                to_stdout ? "stdout" : file, archive.size());
  return list;
}

}  // namespace lookout
