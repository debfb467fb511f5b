#include "app/install/setup_questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/model/base.h"
#include "app/options/settings.h"
#include "pipeline/archive/archive.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/lower_case.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/sha256.h"
#include "pipeline/core/text.h"
#include "platform/http/http_address.h"
#include "platform/mqtt/mqtt_address.h"
#include "platform/sources/network_url.h"
#include "platform/sources/source_uri.h"
#include "platform/system/input_file.h"
#include "platform/system/password.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

struct SetupQuestion {
  std::string_view key;
  std::string_view title;        // of the line in --show
  std::vector<SetupFlag> flags;  // the first one is the answer, others belong to it
  // What is shown before somebody answers; without the proposal.
  std::string (*question)(const SetupRun& run);
  // Of the first setup; later ones propose the last answer. Empty: there is none.
  std::string (*proposal)(const SetupRun& run);
  // Tries the answer, tells what came of it, and puts it into run.draft. Returns the answer to
  // remember. Throws Error for one that does not work.
  std::string (*take)(SetupRun& run, const std::string& answer);
};

Error no_answer(const std::string& sentence) { return {ErrorKind::kUsage, sentence}; }

bool is_word_of(const std::string& answer, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), lower_case(answer)) != words.end();
}

bool is_no(const std::string& answer) { return is_word_of(answer, {kNone, "no", "n", "off", "-"}); }

std::string remembered(const SetupRun& run, const std::string& key) {
  return answer_to(run.before.answers, key);
}

std::string kept_secret(const SetupRun& run, const std::string& name) {
  const auto found = run.secrets.find(name);
  return found == run.secrets.end() ? "" : found->second;
}

void allow_host(SetupRun& run, std::string host) {
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  const auto addresses = run.host.addresses_of(host);
  run.draft.addresses.insert(addresses.begin(), addresses.end());
  if (is_ip_address(host)) return;
  run.draft.looks_up_names = true;
  if (is_public_host(addresses)) run.draft.public_hosts.insert(host);
}

// ---- Which camera?

struct FoundCamera {
  std::string source;
  std::string text;
};

// A link of a USB camera stays the same when the number of its device changes.
std::vector<FoundCamera> found_cameras(const Cameras& cameras) {
  std::vector<FoundCamera> found;
  for (std::size_t i = 0; i < cameras.csi.size(); ++i) {
    found.push_back({fmt::format("csi://{}", i), cameras.csi[i].model});
  }
  for (const CameraNode& node : cameras.nodes) {
    if (node.kind != NodeKind::kCamera || !node.problem.empty()) continue;
    found.push_back({node.links.empty() ? node.path : node.links.front(), node.info.card});
  }
  return found;
}

std::string camera_question(const SetupRun& run) {
  const Cameras cameras = run.host.cameras();
  std::string text = "Which camera?\n";
  const auto found = found_cameras(cameras);
  for (std::size_t i = 0; i < found.size(); ++i) {
    append_format(text, "  {}  {}  {}\n", i + 1, found[i].source, printable(found[i].text));
  }
  if (found.empty()) text += "  No camera was found. Plug one in and press Enter to look again.\n";
  if (const std::string missed = missed_csi(cameras); !missed.empty()) {
    append_format(text, "  {}\n", missed);
  }
  return text +
         "  or the address of a network camera, as rtsp://USER@HOST/...\n"
         "  or test://all, drawn patterns to try the rest\nCamera";
}

std::string camera_proposal(const SetupRun& run) {
  if (run.config.camera.source != CameraOptions().source) return run.config.camera.source;
  const auto found = found_cameras(run.host.cameras());
  return found.empty() ? "" : found.front().source;
}

// The number of a list becomes the camera.
std::string named_camera(const SetupRun& run, const std::string& answer) {
  const bool is_number =
      !answer.empty() && answer.size() < 3 &&
      std::all_of(answer.begin(), answer.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return answer;
  const auto found = found_cameras(run.host.cameras());
  const std::size_t number = std::stoul(answer);
  if (number < 1 || number > found.size()) {
    throw Error(ErrorKind::kNoInput, "there is no camera with this number");
  }
  return found[number - 1].source;
}

// The user's password, of a file or typed, when the address has none. `credentials`: "user:" with
// the password that was kept, if there is one. Returns whether there is another one now.
bool take_camera_password(const SetupRun& run, std::string& credentials) {
  const std::string flag = "camera-password-file";
  const std::string file = run.given(flag);
  const auto colon = credentials.find(':');
  const std::string user = credentials.substr(0, colon);
  std::string password;
  if (!file.empty()) {
    if (user.empty()) {
      throw no_answer("--" + flag + " needs the user in the address, as rtsp://USER@HOST/...");
    }
    password = run.secret_of("--" + flag, file);
  } else if (run.asks && !user.empty() && colon + 1 == credentials.size()) {
    password = run.host.ask_secret(fmt::format("Password of {} (not shown): ", printable(user)));
  }
  if (password.empty()) return false;
  credentials = user + ":" + password;
  return true;
}

// What a picture of the camera is, or why there is none. Throws Error.
std::string picture_of(const SetupRun& run, const std::string& camera) {
  try {
    return "it works: " + run.host.take_picture(camera, run.asks);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kDeviceLost) throw;
    if (run.host.systemctl({"is-active", "lookout.service"}) != "active") throw;
    return fmt::format("not tried, since the service that runs may have it ({})", error.what());
  }
}

std::string take_camera(SetupRun& run, const std::string& typed) {
  if (typed.empty()) {
    throw Error(ErrorKind::kNoInput,
                "no camera was found; lookout doctor tells why, test://all needs none");
  }
  const std::string answer = named_camera(run, typed);
  const SourceUri uri = parse_source_uri(answer, {});
  const auto* path = std::get_if<LocalPath>(&uri);
  if (std::holds_alternative<Stdin>(uri) || std::holds_alternative<NoFrames>(uri) ||
      (path != nullptr && !fs::path(path->path).is_absolute())) {
    throw no_answer(printable(answer) + " is no camera that a service can use");
  }
  std::string source = answer;
  std::string tried = answer;
  bool is_known = answer == remembered(run, "camera");
  if (const auto* network = std::get_if<NetworkUri>(&uri)) {
    std::string credentials = is_known ? kept_secret(run, "camera") : "";
    source = without_credentials(network->url, credentials);
    if (take_camera_password(run, credentials)) {
      tried = with_credentials(source, credentials);
      is_known = is_known && credentials == kept_secret(run, "camera");
    }
    if (!credentials.empty()) run.draft.secrets["camera"] = credentials;
    allow_host(run, host_of(source));
  }
  if (is_known) {
    run.host.tell("  the camera stays the same\n");
  } else {
    run.host.tell(fmt::format("  a picture of {} ...\n", shown_source(answer)));
    run.host.tell(fmt::format("  {}\n", picture_of(run, tried)));
  }
  return source;
}

// ---- What is it called?

std::string name_proposal(const SetupRun& run) {
  if (!run.config.camera.name.empty()) return run.config.camera.name;
  const std::string name = lower_case(run.host.host_name());
  return name.empty() ? "camera" : name;
}

std::string take_name(SetupRun& /*run*/, const std::string& answer) {
  constexpr std::size_t kLongestName = 60;
  if (answer.empty() || answer.size() > kLongestName || printable(answer) != answer) {
    throw no_answer("a name has 1 to 60 letters, in one line");
  }
  return answer;
}

// ---- What does it look for?

std::string model_question(const SetupRun& run) {
  const std::string base =
      run.host.base() ? "classes of your own, which you teach in the browser"
                      : "teach in the browser; needs the package: sudo apt install lookout-base";
  return "What shall it tell apart?\n  base  " + base +
         "\n  none  test patterns alone, to try the camera\n"
         "  or the file of a model (.pt, .onnx, .head)\nModel";
}

std::string model_proposal(const SetupRun& run) {
  if (!run.config.model.file.empty()) return run.config.model.file;
  return run.host.base() ? "base" : kNone;
}

std::string class_list(const std::vector<std::string>& labels) {
  constexpr std::size_t kShownClasses = 8;
  const std::size_t count = std::min(labels.size(), kShownClasses);
  const auto end = labels.begin() + static_cast<std::ptrdiff_t>(count);
  std::string text = printable(joined(std::vector<std::string>(labels.begin(), end), ", "));
  if (labels.size() > count) append_format(text, " and {} more", labels.size() - count);
  return text;
}

// Taught heads have the base's hash alone.
void accept_hashes(SetupRun& run, const std::string& hash) {
  run.draft.model_hashes = {hash};
  const auto base = run.host.base();
  if (!base) return;
  const std::string of_base = ModelArchive(*base).sha256();
  if (of_base != hash) run.draft.model_hashes.push_back(of_base);
}

std::string take_model(SetupRun& run, const std::string& answer) {
  if (is_no(answer)) return kNone;
  if (answer == "base") {
    if (!run.host.base()) {
      throw Error(ErrorKind::kNoInput,
                  std::string("there is no base to teach from: ") + kWayToBase);
    }
    return answer;
  }
  const fs::path place = fs::path(kModelFolder) / fs::path(answer).filename();
  const fs::path copy = run.host.root / place.relative_path();
  const bool is_known = answer == place && answer == remembered(run, "model");
  const fs::path file = answer == place ? copy : fs::absolute(answer);
  std::string bytes = read_input("model", file);
  if (!is_known) {
    run.host.tell("  the model is tried ...\n");
    const JudgedModel model = run.host.judge(file.filename(), bytes);
    run.host.tell(fmt::format("  it knows {}\n", class_list(model.labels)));
  }
  const auto& ours = run.before.files;
  std::error_code unseen;
  if (file != copy && fs::exists(copy, unseen) &&
      std::find(ours.begin(), ours.end(), place) == ours.end() &&
      read_input("model", copy) != bytes) {
    throw Error(ErrorKind::kOutput,
                fmt::format("{} is another model: rename yours", place.string()));
  }
  accept_hashes(run, sha256(bytes));
  run.draft.model_bytes = std::move(bytes);
  return place;
}

// ---- Home Assistant's broker

std::string take_broker_password(SetupRun& run, const std::string& user, bool is_known) {
  const std::string flag = "broker-password-file";
  if (const std::string file = run.given(flag); !file.empty()) {
    return run.secret_of("--" + flag, file);
  }
  const std::string kept = is_known ? kept_secret(run, "mqtt") : "";
  if (!run.asks) return kept;
  const std::string typed = run.host.ask_secret(fmt::format(
      "Password of {} (not shown){}: ", printable(user), kept.empty() ? "" : " [the same]"));
  return typed.empty() ? kept : typed;
}

std::string url_of(const MqttAddress& address) {
  std::string url = to_text(address);
  const std::size_t scheme = address.path.empty() ? url.find("://") + 3 : url.find(':') + 1;
  return address.user.empty() ? url : url.insert(scheme, address.user + "@");
}

MqttAddress broker_address(const std::string& answer) {
  const bool has_scheme = answer.find("://") != answer.npos || starts_with(answer, "mqtt+unix:");
  return parse_mqtt_address(has_scheme ? answer : "mqtt://" + answer);
}

// `proposal`: empty: none.
std::string broker_user(const SetupRun& run, const std::string& proposal) {
  const std::string given = run.given("broker-user");
  if (!given.empty()) return given;
  if (!run.asks) return proposal;
  const std::string question = fmt::format("User that the broker knows [{}]: ",
                                           proposal.empty() ? kNone : printable(proposal));
  const std::string typed(trimmed(run.host.ask(question)));
  if (typed.empty()) return proposal;
  return is_no(typed) ? "" : typed;
}

// The client's sentence names keys of the configuration, which nobody has to know here.
void connect_to_broker(const SetupRun& run, const MqttOptions& options,
                       const std::string& password) {
  try {
    run.host.try_broker(options, password);
  } catch (const Error& error) {
    std::string text = error.what();
    if (starts_with(text, "mqtt: ")) text.erase(0, text.find(' ') + 1);
    const auto keys = text.find(": check the user in mqtt.url");
    if (keys != text.npos) text = text.substr(0, keys) + ": the user or the password is not right";
    throw Error(error.kind(), text);
  }
}

std::string take_broker(SetupRun& run, const std::string& answer) {
  if (is_no(answer)) return kNone;
  MqttAddress address = broker_address(answer);
  MqttAddress last;
  const std::string remembered_url = remembered(run, "broker");
  if (!remembered_url.empty() && !is_no(remembered_url)) last = broker_address(remembered_url);
  const bool is_known = last.host == address.host && last.path == address.path;
  const std::string proposal = address.user.empty() && is_known ? last.user : address.user;
  address.user = broker_user(run, proposal);
  std::string password;
  if (!address.user.empty()) password = take_broker_password(run, address.user, is_known);
  MqttOptions options = run.config.mqtt;  // with the certificate of a CA of one's own
  options.password_file.clear();
  options.url = url_of(address);
  parse_mqtt_address(options.url);
  run.host.tell(fmt::format("  a connection to {} ...\n", to_text(address)));
  connect_to_broker(run, options, password);
  run.host.tell("  the broker accepts it\n");
  if (address.path.empty()) allow_host(run, address.host);
  if (!password.empty()) run.draft.secrets["mqtt"] = password;
  return options.url;
}

// ---- The page

std::string page_proposal(const SetupRun& run) {
  // Nobody in the house can log in without a password.
  const bool can_log_in = run.asks || !run.given("page-password-file").empty();
  return can_log_in ? "house" : "board";
}

void check_page_password(const std::string& password) {
  const std::string reason = reason_against_password(password);
  if (!reason.empty()) throw no_answer("the password " + reason);
}

// Empty: nothing was typed.
std::string ask_page_password(const SetupRun& run, bool is_needed) {
  const char* otherwise = run.has_password ? " [the same]" : is_needed ? "" : " [none]";
  std::string password = run.host.ask_secret(fmt::format(
      "Password for the page, at least {} characters (not shown){}: ", kMinPassword, otherwise));
  if (password.empty()) return password;
  check_page_password(password);
  if (run.host.ask_secret("The same again: ") != password) {
    throw no_answer("the two passwords differ");
  }
  return password;
}

// Empty: none, or that which there is.
std::string new_page_password(const SetupRun& run, bool is_needed) {
  const std::string flag = "page-password-file";
  std::string password;
  if (const std::string file = run.given(flag); !file.empty()) {
    password = run.secret_of("--" + flag, file);
    check_page_password(password);
  } else if (run.asks) {
    password = ask_page_password(run, is_needed);
  }
  if (password.empty() && is_needed && !run.has_password) {
    throw no_answer("the page for the house needs a password: --page-password-file FILE");
  }
  return password;
}

std::string take_page(SetupRun& run, const std::string& answer) {
  if (is_no(answer)) return "off";
  if (!is_word_of(answer, {"board", "house"})) {
    throw no_answer("the page is for the house or the board, or off");
  }
  std::string page = lower_case(answer);
  run.draft.new_password = new_page_password(run, /*is_needed=*/page == "house");
  return page;
}

// ---- A message to the phone

bool is_http(const std::string& url) {
  return starts_with(url, "http://") || starts_with(url, "https://");
}

std::string take_webhook(SetupRun& run, const std::string& answer) {
  if (is_no(answer)) return kNone;
  std::string url = answer;
  if (answer == kKept) {
    url = kept_secret(run, "webhook");
  } else if (!is_http(answer)) {
    url = run.secret_of("--webhook-file", answer);
  }
  if (!is_http(url)) {
    throw no_answer("the address begins with https:// or http://");
  }
  run.host.check_message(url);
  allow_host(run, host_of(url));
  run.draft.secrets["webhook"] = url;
  return kKept;
}

// ---- At boot?

std::string take_boot(SetupRun& /*run*/, const std::string& answer) {
  if (is_word_of(answer, {"yes", "y", "no", "n"})) {
    return lower_case(answer).front() == 'y' ? "yes" : "no";
  }
  throw no_answer("answer yes or no");
}

// ---- All of them

const std::vector<SetupQuestion>& questions() {
  static const std::vector<SetupQuestion> all{
      {"camera",
       "camera",
       {{"camera", "--camera", "SOURCE",
         "A camera of lookout list-cameras, the address of one on the network, or test://all"},
        {"camera-password-file", "--camera-password-file", "FILE",
         "A file with the password of a camera rtsp://USER@HOST/..."}},
       camera_question,
       camera_proposal,
       take_camera},
      {"name",
       "name",
       {{"name", "--name", "TEXT", "The camera's name, in results and in Home Assistant"}},
       [](const SetupRun&) { return std::string("What is it called, as in \"garage\"?\nName"); },
       name_proposal,
       take_name},
      {"model",
       "model",
       {{"model", "--model", "base|none|FILE",
         "base: classes of your own, taught in the browser; none: test patterns; or a model, which "
         "is copied to /usr/local/share/lookout"}},
       model_question,
       model_proposal,
       take_model},
      {"broker",
       "broker",
       {{"broker", "--broker", "URL",
         "Home Assistant's MQTT broker: HOST, mqtt://HOST or mqtts://HOST; or none"},
        {"broker-user", "--broker-user", "NAME", "The user that the broker knows"},
        {"broker-password-file", "--broker-password-file", "FILE", "A file with its password"}},
       [](const SetupRun&) {
         return std::string(
             "Home Assistant: which MQTT broker does it use? (the name or address of its machine, "
             "or none)\nBroker");
       },
       [](const SetupRun& run) {
         return run.config.mqtt.url.empty() ? std::string(kNone) : run.config.mqtt.url;
       },
       take_broker},
      {"page",
       "page",
       {{"page", "--page", "off|board|house",
         "The page: house: for all in your network who know its password; board: on this machine "
         "alone"},
        {"page-password-file", "--page-password-file", "FILE",
         "A file with the password; of two lines the first"}},
       [](const SetupRun&) {
         return std::string(
             "Who sees the page with the picture?\n"
             "  house  who is in your network and knows its password\n"
             "  board  this machine alone (others by ssh)\n"
             "  off    nobody\nPage");
       },
       page_proposal,
       take_page},
      {"webhook",
       "message",
       {{"webhook-file", "--webhook-file", "FILE",
         "A file with the address to which changes are sent, as https://ntfy.sh/TOPIC; or none"}},
       [](const SetupRun&) {
         return std::string(
             "Shall changes be sent to your phone? (an address, as https://ntfy.sh/YOUR-TOPIC of "
             "ntfy's app, or none)\nAddress");
       },
       [](const SetupRun& run) {
         return run.config.webhook.url.empty() ? std::string(kNone) : run.config.webhook.url;
       },
       take_webhook},
      {"boot",
       "at boot",
       {{"boot", "--boot", "yes|no", "Start it whenever the machine starts"}},
       [](const SetupRun&) {
         return std::string("Start it whenever the machine starts?\nyes or no");
       },
       [](const SetupRun&) { return std::string("yes"); },
       take_boot}};
  return all;
}

void ask(SetupRun& run, const SetupQuestion& question, const std::string& number) {
  std::string answer = run.given(question.flags.front().key);
  const std::string key(question.key);
  while (true) {
    if (run.asks && answer.empty()) run.host.tell("\n" + number);
    std::string proposal = remembered(run, key);
    if (proposal.empty()) proposal = question.proposal(run);
    if (run.asks && answer.empty()) {
      answer = trimmed(run.host.ask(fmt::format(
          "{}{}: ", question.question(run),
          proposal.empty() ? "" : fmt::format(" [{}]", printable(shown_source(proposal))))));
    }
    if (answer.empty()) answer = proposal;
    const SetupDraft before = run.draft;
    try {
      run.draft.answers[key] = question.take(run, answer);
      return;
    } catch (const Error& error) {
      if (!run.asks) throw;
      run.draft = before;
      run.host.tell(fmt::format("  {}\n", error.what()));
      answer.clear();
    }
  }
}

}  // namespace

std::string answer_to(const SetupAnswers& answers, const std::string& key) {
  const auto found = answers.find(key);
  return found == answers.end() ? "" : found->second;
}

bool SetupDraft::has(const std::string& key, const std::string& answer) const {
  return answer_to(answers, key) == answer;
}

std::string SetupRun::given(const std::string& key) const {
  return answer_to(options.answers, key);
}

std::string SetupRun::secret_of(const std::string& flag, const std::string& file) const {
  const std::string content = read_input(flag, file);
  std::string secret = content.substr(0, content.find_first_of("\r\n"));
  if (secret.empty()) throw no_answer(fmt::format("{} {}: its first line is empty", flag, file));
  return secret;
}

std::vector<SetupFlag> setup_flags() {
  std::vector<SetupFlag> flags;
  for (const SetupQuestion& question : questions()) {
    flags.insert(flags.end(), question.flags.begin(), question.flags.end());
  }
  return flags;
}

void ask_questions(SetupRun& run) {
  const auto& all = questions();
  int number = 0;
  for (const SetupQuestion& question : all) {
    ask(run, question, fmt::format("{} of {}. ", ++number, all.size()));
  }
}

std::string shown_answers(const SetupAnswers& answers) {
  std::string text;
  for (const SetupQuestion& question : questions()) {
    const auto answer = answers.find(std::string(question.key));
    if (answer == answers.end()) continue;
    append_format(text, "  {:<8} {}\n", question.title, printable(shown_source(answer->second)));
  }
  return text;
}

}  // namespace lookout
