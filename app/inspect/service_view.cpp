#include "app/inspect/service_view.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "platform/sources/source_uri.h"
#include "platform/system/paths_in.h"
#include "platform/system/service.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using State = Check::State;
using Checks = std::vector<Check>;

// What the unit and its drop-ins say, in the order in which systemd reads them; empty: it is not
// installed.
std::vector<std::string> lines_of_unit(const std::string& unit, const fs::path& root) {
  const bool is_instance = unit.find('@') != std::string::npos;
  const std::string file = is_instance ? "lookout@.service" : unit;
  std::vector<fs::path> files;
  for (const char* folder : {"etc", "run", "usr/lib", "lib"}) {
    const fs::path path = root / folder / "systemd/system" / file;
    if (files.empty() && fs::exists(path)) files.push_back(path);
  }
  std::map<std::string, fs::path> drop_ins;  // by their names; one of etc hides that of usr
  for (const char* folder : {"usr/lib", "run", "etc"}) {
    for (const std::string& name : {file, unit}) {
      for (const fs::path& path : paths_in(root / folder / "systemd/system" / (name + ".d"))) {
        if (path.extension() == ".conf") drop_ins[path.filename()] = path;
      }
    }
  }
  for (const auto& [name, path] : drop_ins) files.push_back(path);
  std::vector<std::string> lines;
  for (const fs::path& path : files) {
    std::ifstream stream(path);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
  }
  return lines;
}

// Of a switch like PrivateNetwork=; nothing: no line sets it.
std::optional<bool> last_switch(const std::vector<std::string>& lines, const std::string& name) {
  std::optional<bool> value;
  for (const std::string& line : lines) {
    if (line.rfind(name + "=", 0) != 0) continue;
    const std::string text = line.substr(name.size() + 1);
    value = text == "yes" || text == "true" || text == "1" || text == "on";
  }
  return value;
}

// Whether the unit gives what a source needs: a network, or a kind of devices.
void check_unit_allows(const RunOptions& options, const std::string& unit, const fs::path& root,
                       Checks& checks) {
  const std::vector<std::string> lines = lines_of_unit(unit, root);
  if (lines.empty()) {
    checks.push_back({"unit", State::kNote, unit + " is not installed here"});
    return;
  }
  const bool has_network = !last_switch(lines, "PrivateNetwork").value_or(false);
  const auto need_network = [&](const std::string& what, const std::string& drop_in) {
    if (has_network) return;
    checks.push_back({"network", State::kFailure,
                      fmt::format("{} needs a network, which {} does not have: put "
                                  "/usr/share/doc/lookout/{} into /etc/systemd/system/{}.d",
                                  what, unit, drop_in, unit),
                      static_cast<int>(ErrorKind::kPermission)});
  };
  const std::string& broker = options.mqtt.url;
  if (!broker.empty() && broker.rfind("mqtt+unix:", 0) != 0) {
    need_network("mqtt.url", "mqtt.conf");
  }
  if (options.webhook.sends()) need_network("webhook.url", "webhook.conf");
  const std::string& source = options.camera.source;
  for (const SourceScheme& scheme : source_schemes()) {
    const std::string needed(scheme.service);
    if (needed.empty() || source.rfind(scheme.name, 0) != 0) continue;
    if (needed.rfind("PrivateNetwork", 0) == 0) {
      need_network(shown_source(source), "network-camera.conf");
    } else if (std::none_of(lines.begin(), lines.end(),
                            [&](const std::string& line) { return line.rfind(needed, 0) == 0; })) {
      checks.push_back({"devices", State::kFailure,
                        fmt::format("{} needs {} in {}", shown_source(source), needed, unit),
                        static_cast<int>(ErrorKind::kPermission)});
    }
    break;
  }
}

// Files with secrets, of which a check names the key. Those that systemd hands over are seen by the
// service alone.
void check_secrets_of_service(const RunOptions& options, Checks& checks) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"camera.credentials", options.camera.source_options.credentials},
      {"http.token-file", options.http.token_file},
      {"http.password-file", options.http.password_file},
      {"mqtt.password-file", options.mqtt.password_file},
      {"mqtt.key", options.mqtt.key},
      {"webhook.url-file", options.webhook.url_file},
      {"webhook.headers-file", options.webhook.headers_file}};
  for (const auto& [key, file] : files) {
    if (file.empty()) continue;
    if (is_in(file, "/run/credentials")) {
      checks.push_back({"secret", State::kNote,
                        fmt::format("{} {}: systemd hands it to the service alone, so it is not "
                                    "checked",
                                    key, file)});
      continue;
    }
    checks.push_back(tried("secret", State::kFailure, [&key = key, &file = file] {
      check_service_reads(key, file);
      return fmt::format("{} {}", key, file);
    }));
  }
}

}  // namespace

bool is_in(const fs::path& path, const fs::path& folder) {
  const fs::path relative = fs::absolute(path).lexically_normal().lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

void check_service_view(const RunOptions& options, const std::string& unit, const fs::path& root,
                        Checks& checks) {
  if (!options.config_file.empty()) {
    // A draft may lie anywhere: the unit reads the one in /etc/lookout.
    checks.push_back(tried("settings", State::kNote, [&] {
      check_service_reads("configuration", options.config_file);
      return options.config_file + ", as the user lookout sees it";
    }));
  }
  check_secrets_of_service(options, checks);
  check_unit_allows(options, unit, root, checks);
  if (geteuid() != 0) {
    checks.push_back({"sandbox", State::kNote,
                      "files in folders that you may not enter are not checked: use sudo"});
  }
}

}  // namespace lookout
