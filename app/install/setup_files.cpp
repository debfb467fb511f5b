#include "app/install/setup_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <system_error>

#include "app/report/json.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "platform/system/input_file.h"
#include "platform/system/password.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMadeBy =
    "# Written by \"lookout setup\". To change it: \"sudo lookout setup\", which proposes what is "
    "said "
    "here;\n# to remove it: \"sudo lookout setup --undo\".\n";

constexpr mode_t kForRoot = 0600;

// The variable that names the file of a secret to the service.
const std::map<std::string, std::string>& secret_variables() {
  static const std::map<std::string, std::string> all{{"camera", "LOOKOUT_CAMERA_CREDENTIALS"},
                                                      {"mqtt", "LOOKOUT_MQTT_PASSWORD_FILE"},
                                                      {"webhook", "LOOKOUT_WEBHOOK_URL_FILE"}};
  return all;
}

bool has_login(const SetupRun& run) {
  return !run.draft.has("page", "off") && (run.has_password || !run.draft.new_password.empty());
}

std::string configuration(const SetupRun& run) {
  const auto& answers = run.draft.answers;
  std::string text = fmt::format(
      "{}# Settings of your own go into a file that is read after this one, as "
      "/etc/lookout/conf.d/60-own.toml.\n",
      kMadeBy);
  append_format(text, "\n[camera]\nsource = {}\nname = {}\n", to_json(answers.at("camera")),
                to_json(answers.at("name")));
  const std::string& model = answers.at("model");
  if (!run.draft.model_hashes.empty()) {
    text +=
        "\n# A model is a program: files with other hashes are refused. For another one: sudo "
        "lookout setup --model FILE\n[model]\n";
    std::vector<std::string> hashes;
    for (const std::string& hash : run.draft.model_hashes) hashes.push_back(to_json(hash));
    append_format(text, "file = {}\nsha256 = [{}]\n", to_json(model), joined(hashes, ", "));
  } else {
    text += "\n# Test patterns, and what is taught in the browser.\n[model]\nfile = \"\"\n";
  }
  const bool has_broker = !run.draft.has("broker", kNone);
  append_format(text, "\n[mqtt]\nurl = {}\n", to_json(has_broker ? answers.at("broker") : ""));
  text +=
      "\n# systemd hands the address of messages over, if there is one.\n[webhook]\nurl = \"\"\n";
  if (!run.draft.has("webhook", kNone)) {
    text += "\n# What has lasted so long is a state, and sent.\n[state]\nmin-duration = \"10s\"\n";
  }
  if (has_login(run)) {
    text +=
        "\n# Who knows the password (\"sudo lookout password\" changes it) may teach.\n"
        "[http]\nteach = true\n";
  }
  return text;
}

// Empty when the service needs nothing of it.
std::string service_drop_in(const SetupRun& run) {
  const SetupDraft& draft = run.draft;
  std::string text;
  if (!draft.addresses.empty()) {
    text +=
        "[Unit]\nWants=network-online.target\nAfter=network-online.target\n\n[Service]\n"
        "PrivateNetwork=no\nRestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n";
    std::set<std::string> addresses = draft.addresses;
    if (!draft.public_hosts.empty()) {
      append_format(text, "# All addresses, since those of {} change.\n",
                    joined(draft.public_hosts, ", "));
      addresses = {"any"};
    } else {
      text +=
          "# The only addresses that it can reach. When one of them changes, run \"sudo lookout "
          "setup\" again.\n";
      if (draft.looks_up_names) {
        const auto servers = run.host.name_servers();
        addresses.insert(servers.begin(), servers.end());
      }
    }
    for (const std::string& address : addresses)
      append_format(text, "IPAddressAllow={}\n", address);
  } else if (!draft.secrets.empty()) {
    text += "[Service]\n";
  }
  for (const auto& [name, secret] : draft.secrets) {
    append_format(text, "LoadCredential=setup-{0}:{1}/{0}\nEnvironment={2}=%d/setup-{0}\n", name,
                  kSetupSecrets, secret_variables().at(name));
  }
  return text.empty() ? text : kMadeBy + text;
}

std::string socket_drop_in() {
  return std::string(kMadeBy) + fmt::format(
                                    "[Socket]\n# All addresses of this machine.\nListenStream=\n"
                                    "ListenStream={}\n",
                                    kPagePort);
}

// The hash of a new password, unless it is the one that there is.
std::optional<PlannedFile> password_hash(const SetupRun& run, const std::string& file) {
  const fs::path path = run.host.root / fs::path(file).relative_path();
  const std::string hash = read_password_hash(path);
  const std::string& password = run.draft.new_password;
  const auto& ours = run.before.files;
  const bool is_ours = std::find(ours.begin(), ours.end(), file) != ours.end();
  if (!has_login(run)) return std::nullopt;
  const bool is_new = !password.empty() && (hash.empty() || !is_password(password, hash));
  if (!is_new && !is_ours) return std::nullopt;
  return PlannedFile{file, (is_new ? hash_password(password) : hash) + "\n", password_access()};
}

FileAccess access_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_mode & 07777U, status.st_gid};
}

Error cannot_write(const fs::path& path, const std::error_code& error) {
  const bool forbidden = error == std::errc::permission_denied;
  return {forbidden ? ErrorKind::kPermission : ErrorKind::kOutput,
          fmt::format("{} cannot be written: {}", path.string(), error.message())};
}

}  // namespace

std::vector<PlannedFile> planned_files(const SetupRun& run, const std::string& password) {
  std::vector<PlannedFile> files;
  for (const auto& [name, secret] : run.draft.secrets) {
    files.push_back({fmt::format("{}/{}", kSetupSecrets, name), secret + "\n", {kForRoot}});
  }
  if (!run.draft.model_bytes.empty()) {
    files.push_back({run.draft.answers.at("model"), run.draft.model_bytes});
  }
  if (auto hash = password_hash(run, password)) files.push_back(std::move(*hash));
  files.push_back({kSetupConfig, configuration(run)});
  if (const std::string text = service_drop_in(run); !text.empty()) {
    files.push_back({kServiceDropIn, text});
  }
  if (run.draft.has("page", "house")) files.push_back({kSocketDropIn, socket_drop_in()});
  return files;
}

std::string to_text(const SetupRecord& record) {
  const Json json{{"schema", 1},
                  {"type", "setup"},
                  {"answers", record.answers},
                  {"files", record.files},
                  {"enabled_before", record.enabled_before},
                  {"active_before", record.active_before}};
  constexpr int kIndent = 2;
  return to_text(json, kIndent) + "\n";
}

SetupRecord read_setup_record(const fs::path& root) {
  const fs::path path = root / fs::path(kSetupRecord).relative_path();
  std::error_code unseen;
  if (!fs::exists(path, unseen) && !unseen) return {};
  const auto json = parse_json(read_input("what setup noted", path));
  try {
    SetupRecord record;
    json.at("answers").get_to(record.answers);
    json.at("files").get_to(record.files);
    json.at("enabled_before").get_to(record.enabled_before);
    json.at("active_before").get_to(record.active_before);
    return record;
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::kBadData, path.string() + " is damaged; without it setup begins anew");
  }
}

MqttOptions with_setup_password(MqttOptions mqtt, const fs::path& root) {
  if (!mqtt.password_file.empty() || mqtt.url.empty()) return mqtt;
  if (answer_to(read_setup_record(root).answers, "broker") != mqtt.url) return mqtt;
  const fs::path secret = root / fs::path(kSetupSecrets).relative_path() / "mqtt";
  std::error_code closed;  // to others than root: whoever reads it says so
  if (fs::exists(secret, closed) || closed) mqtt.password_file = secret;
  return mqtt;
}

FileChanges::~FileChanges() { take_back(); }

bool FileChanges::exists(const std::string& path) const {
  std::error_code unseen;
  return fs::exists(place(path), unseen);
}

bool FileChanges::differs(const PlannedFile& file) const {
  const fs::path path = place(file.path);
  if (!exists(file.path) || read_input("file", path) != file.content) return true;
  return access_of(path).mode != file.access.mode;
}

void FileChanges::note(const std::string& path) {
  Done done{path, std::nullopt, access_of(place(path))};
  if (exists(path)) done.before = read_input("file", place(path));
  done_.push_back(std::move(done));
}

void FileChanges::make_folders(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return;
  make_folders(folder.parent_path());
  constexpr mode_t kFolder = 0755;
  constexpr mode_t kSecretFolder = 0700;
  const bool is_secret = folder == place(kSetupSecrets);
  if (::mkdir(folder.c_str(), kSecretFolder) != 0 ||
      ::chmod(folder.c_str(), is_secret ? kSecretFolder : kFolder) != 0) {
    throw cannot_write(folder, {errno, std::generic_category()});
  }
}

void FileChanges::write(const PlannedFile& file) {
  note(file.path);
  make_folders(place(file.path).parent_path());
  AtomicFile("file", place(file.path))
      .save([&file](const WritePart& part) { part(file.content); }, file.access);
}

void FileChanges::remove(const std::string& path) {
  note(path);
  std::error_code error;
  fs::remove(place(path), error);
  if (error) throw cannot_write(place(path), error);
  remove_empty_folders(path);
}

void FileChanges::remove_empty_folders(const std::string& path) {
  constexpr std::array kOurs{"/etc/lookout/credentials", "/etc/systemd/system/lookout.service.d",
                             "/etc/systemd/system/lookout.socket.d", kModelFolder};
  const fs::path folder = fs::path(path).parent_path();
  if (std::find(kOurs.begin(), kOurs.end(), folder) != kOurs.end()) {
    ::rmdir(place(folder).c_str());  // refuses one that is not empty
  }
}

void FileChanges::take_back() noexcept {
  for (auto done = done_.rbegin(); done != done_.rend(); ++done) {
    try {
      const fs::path path = place(done->path);
      std::error_code ignored;
      if (done->before) {
        make_folders(path.parent_path());
        AtomicFile("file", path)
            .save([&done](const WritePart& part) { part(*done->before); }, done->access);
      } else {
        fs::remove(path, ignored);
        remove_empty_folders(done->path);
      }
    } catch (const std::exception&) {  // the next one may still be written
    }
  }
  done_.clear();
}

}  // namespace lookout
