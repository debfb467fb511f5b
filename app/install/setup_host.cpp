#include "app/install/setup_host.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "app/install/password_command.h"
#include "app/install/service_control.h"
#include "app/model/base.h"
#include "app/options/resolved_run.h"
#include "app/run/forget_mqtt.h"
#include "pipeline/core/error.h"
#include "pipeline/core/source.h"
#include "platform/mqtt/mqtt_client.h"
#include "platform/pictures/encode_picture.h"
#include "platform/sources/open_source.h"
#include "platform/sources/source_uri.h"
#include "platform/system/atomic_file.h"
#include "platform/system/process.h"
#include "platform/system/results_output.h"
#include "platform/system/system_info.h"
#include "platform/webhook/webhook_reporter.h"
#include "platform/webhook/webhook_settings.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPictureLimit{15};
constexpr std::chrono::seconds kJournalLimit{10};
constexpr std::chrono::milliseconds kSetupPause{500};

// Also without an end of the line.
std::string read_visible_line() {
  constexpr std::size_t kLongest = 4096;
  std::string line;
  char byte = 0;
  while (line.size() < kLongest) {
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 && line.empty()) {
      throw Error(ErrorKind::kUsage, "the answers ended; nothing was changed");
    }
    if (count <= 0 || byte == '\n') break;
    line += byte;
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

using SavedFolders = std::vector<fs::path>;

// For the user who called sudo to look at. The folder of the picture is added to `folders`.
std::string save_picture(const std::string& jpeg, SavedFolders& folders) {
  std::string folder = (fs::temp_directory_path() / "lookout-setup-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return {};
  folders.emplace_back(folder);
  const fs::path file = fs::path(folder) / "camera.jpg";
  AtomicFile("picture", file).save([&jpeg](const WritePart& write) { write(jpeg); });
  const char* user = std::getenv("SUDO_UID");
  if (user == nullptr || ::geteuid() != 0) return file;
  const auto owner = static_cast<uid_t>(std::strtoul(user, nullptr, 10));
  constexpr gid_t kSameGroup = static_cast<gid_t>(-1);
  const bool is_theirs = ::lchown(file.c_str(), owner, kSameGroup) == 0 &&
                         ::lchown(folder.c_str(), owner, kSameGroup) == 0;
  return is_theirs ? file.string() : file.string() + " (sudo shows it)";
}

void remove_folders(SavedFolders& folders) {
  std::error_code ignored;
  for (const fs::path& folder : folders) fs::remove_all(folder, ignored);
  folders.clear();
}

std::string take_setup_picture(const std::string& text, bool save, SavedFolders& folders) {
  constexpr int kQuality = 90;
  SourceOptions options;
  options.wait = false;
  const auto source = open_source(text, options);
  Frame frame;
  const auto end = Clock::now() + kPictureLimit;
  while (Clock::now() < end) {
    const ReadStatus status = source->read(frame, std::chrono::milliseconds(100));
    if (status == ReadStatus::kEnd) break;
    if (status != ReadStatus::kFrame) continue;
    const cv::Mat& picture = whole_picture(frame);
    std::string result = fmt::format("{}x{}", picture.cols, picture.rows);
    if (!save) return result;
    const std::string file = save_picture(encode_jpeg(picture, kQuality), folders);
    return file.empty() ? result
                        : fmt::format("{}, saved as {} until the end of setup", result, file);
  }
  throw Error(ErrorKind::kDeviceLost, fmt::format("{} gave no picture within {} s",
                                                  shown_source(text), kPictureLimit.count()));
}

// A copy that the service's user can read while the model is tried, wherever the owner has it.
class ModelOnTrial {
 public:
  ModelOnTrial(const fs::path& model, const std::string& bytes) {
    std::string folder = (fs::temp_directory_path() / "lookout-model-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) {
      throw Error(ErrorKind::kOutput, "there is no place in /tmp to try the model");
    }
    folder_ = folder;
    file_ = folder_ / model.filename();
    std::ofstream copy(file_, std::ios::binary);
    if (!(copy << bytes) || !copy.flush()) {
      throw Error(ErrorKind::kOutput, "there is no place in /tmp to try the model");
    }
    std::error_code ignored;
    fs::permissions(folder_, static_cast<fs::perms>(0755), ignored);
    fs::permissions(file_, static_cast<fs::perms>(0644), ignored);
  }
  ~ModelOnTrial() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  ModelOnTrial(const ModelOnTrial&) = delete;
  ModelOnTrial& operator=(const ModelOnTrial&) = delete;

  const fs::path& file() const { return file_; }

 private:
  fs::path folder_;
  fs::path file_;
};

JudgedModel judge_bytes(const std::string& name, const std::string& bytes) {
  const ModelOnTrial trial(name, bytes);
  ModelOptions options;
  options.file = trial.file();
  return judge_model(options);
}

void try_broker_with(const MqttOptions& options, const std::string& password) {
  MqttLinkOptions link = resolve_mqtt(options).value();
  link.settings.password = password;
  link.log = false;
  const MqttClient client(link);
}

void check_message_to(const std::string& url) {
  check_webhook_module();
  WebhookText text;
  text.url = url;
  text.url_is_secret = true;
  text.method = WebhookOptions().method;
  parse_webhook(text);
}

std::string numeric(const sockaddr& address, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(&address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return {};
  }
  std::string result = text.data();
  return result.substr(0, result.find('%'));  // of a link
}

std::vector<std::string> addresses_of_host(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (problem != 0) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("the name {} cannot be looked up: {}", host, ::gai_strerror(problem)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::string address = numeric(*each->ai_addr, each->ai_addrlen);
    if (!address.empty()) addresses.push_back(std::move(address));
  }
  return addresses;
}

std::vector<std::string> name_servers_in(const fs::path& file) {
  std::vector<std::string> servers;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::string address;
    if (words >> key >> address && key == "nameserver") {
      servers.push_back(address.substr(0, address.find('%')));
    }
  }
  return servers;
}

// That of the way to other networks, else of the way to neighbours. Nothing is sent.
std::string address_towards(const char* target) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  ::inet_pton(AF_INET, target, &to.sin_addr);
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return {};
  union {
    sockaddr any;
    sockaddr_in v4;
  } own{};
  socklen_t size = sizeof(own);
  std::memcpy(&own.v4, &to, sizeof(to));
  const bool found =
      ::connect(fd, &own.any, sizeof(to)) == 0 && ::getsockname(fd, &own.any, &size) == 0;
  ::close(fd);
  return found ? numeric(own.any, size) : "";
}

std::string journal_since(std::int64_t since) {
  const auto end = Clock::now() + kJournalLimit;
  return capture_process({"journalctl", "--no-pager", "-o", "cat", "-u", "lookout.service",
                          fmt::format("--since=@{}", since)},
                         {}, [end] { return Clock::now() > end; })
      .out;
}

// Whether it is an address of the internet: none of those that are not "globally reachable" in
// IANA's IPv4 Special-Purpose Address Registry; of IPv6, global unicast.
bool is_public_v4(const in_addr& address) {
  struct Block {
    std::uint32_t first;
    unsigned bits;
  };
  constexpr std::array kSpecial{Block{0x00000000, 8},  Block{0x0a000000, 8},  Block{0x64400000, 10},
                                Block{0x7f000000, 8},  Block{0xa9fe0000, 16}, Block{0xac100000, 12},
                                Block{0xc0000000, 24}, Block{0xc0000200, 24}, Block{0xc0a80000, 16},
                                Block{0xc6120000, 15}, Block{0xc6336400, 24}, Block{0xcb007100, 24},
                                Block{0xe0000000, 3}};
  const std::uint32_t number = ntohl(address.s_addr);
  return std::none_of(kSpecial.begin(), kSpecial.end(), [number](const Block& block) {
    return (number ^ block.first) >> (32 - block.bits) == 0;
  });
}

bool is_public_v6(const in6_addr& address) {
  const bool is_documentation = address.s6_addr[0] == 0x20 && address.s6_addr[1] == 0x01 &&
                                address.s6_addr[2] == 0x0d && address.s6_addr[3] == 0xb8;
  return (address.s6_addr[0] & 0xe0) == 0x20 && !is_documentation;
}

}  // namespace

bool is_public_host(const std::vector<std::string>& addresses) {
  bool has_v4 = false;
  bool is_v4_public = false;
  bool is_v6_public = false;
  for (const std::string& text : addresses) {
    in_addr v4{};
    in6_addr v6{};
    if (::inet_pton(AF_INET, text.c_str(), &v4) == 1) {
      has_v4 = true;
      is_v4_public = is_v4_public || is_public_v4(v4);
    } else if (::inet_pton(AF_INET6, text.c_str(), &v6) == 1) {
      is_v6_public = is_v6_public || is_public_v6(v6);
    }
  }
  return has_v4 ? is_v4_public : is_v6_public;
}

SetupHost local_setup_host(const std::string& root,
                           const std::function<void(std::string_view)>& tell) {
  SetupHost host;
  host.root = root.empty() ? "/" : root;
  host.may_write = ::geteuid() == 0 || !root.empty();
  host.is_terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(results_fd()) == 1;
  host.shows_codes = ::isatty(results_fd()) == 1;
  host.tell = tell;
  host.ask = [tell](const std::string& question) {
    tell(question);
    return read_visible_line();
  };
  host.ask_secret = standard_input().read_line;
  host.cameras = find_cameras;
  const auto folders = std::make_shared<SavedFolders>();
  host.take_picture = [folders](const std::string& source, bool save) {
    return take_setup_picture(source, save, *folders);
  };
  host.remove_pictures = [folders] { remove_folders(*folders); };
  host.judge = judge_bytes;
  host.base = [] { return installed_base(); };
  host.try_broker = try_broker_with;
  host.check_message = check_message_to;
  host.forget_camera = [](const RunOptions& options) { forget_mqtt(options, false); };
  host.addresses_of = addresses_of_host;
  host.name_servers = [] { return name_servers_in("/etc/resolv.conf"); };
  host.own_address = [] { return address_towards("192.0.2.1"); };
  host.host_name = host_name;
  host.systemctl = run_systemctl;
  host.journal = journal_since;
  host.pause = [] { std::this_thread::sleep_for(kSetupPause); };
  host.now = Clock::now;
  return host;
}

}  // namespace lookout
