#include "app/options/resolved_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>
#include <variant>

#include "app/options/watches.h"
#include "pipeline/core/error.h"
#include "pipeline/core/lower_case.h"
#include "platform/mqtt/mqtt_address.h"
#include "platform/mqtt/mqtt_client.h"
#include "platform/reporters/snapshot_reporter.h"
#include "platform/sources/open_source.h"
#include "platform/sources/picture_folder.h"
#include "platform/sources/source_uri.h"
#include "platform/system/input_file.h"
#include "platform/system/journal.h"
#include "platform/system/process.h"
#include "platform/system/results_output.h"
#include "platform/system/service.h"
#include "platform/system/state_folder.h"
#include "platform/system/system_info.h"
#include "platform/webhook/webhook_reporter.h"

namespace lookout {
namespace {

constexpr std::size_t kMinToken = 16;

Error config_error(const std::string& sentence) { return {ErrorKind::kConfig, sentence}; }

// The first line of a file.
std::string read_secret_line(const std::string& option, const std::string& file) {
  std::string secret = read_secret(option, file);
  secret.resize(std::min(secret.find_first_of("\r\n"), secret.size()));
  return secret;
}

void resolve_login(const RunOptions& options, ResolvedRun& run) {
  HttpAccess& access = run.http_access;
  access.origin = origin_of_url(options.http.public_url);
  if (!access.origin.empty()) access.hosts.push_back(name_of_url(access.origin));
  if (!options.http.teach) {
    if (options.http.guests) return;
    throw config_error("http.guests = \"none\" needs http.teach = true: nobody could log in");
  }
  run.http_password = password_file(options);
  if (run.http_password->empty()) {
    throw config_error(
        "http.teach needs a password: name a file by http.password-file, or a configuration by "
        "--config, and run lookout password with the same");
  }
}

void resolve_http(const HttpOptions& options, ResolvedRun& run) {
  HttpAccess& access = run.http_access;
  if (!options.token_file.empty()) {
    access.token = read_secret_line("http.token-file", options.token_file);
    if (access.token.size() < kMinToken) {
      throw config_error(fmt::format("http.token-file {}: the token has fewer than {} characters",
                                     options.token_file, kMinToken));
    }
  }
  access.hosts = options.hosts;
  if (const std::string name = full_host_name(); !name.empty()) {
    access.hosts.push_back(lower_case(name));
    access.hosts.push_back(lower_case(host_name()) + ".local");
  }
  if (options.address.empty()) return;
  run.http_address = parse_http_address(options.address);
  if (!is_loopback(*run.http_address)) require_token(options, options.address);
}

// libmosquitto would tell of a file that is missing much later.
void check_tls(const MqttOptions& options, const MqttAddress& address) {
  const std::array<std::pair<const char*, const std::string*>, 3> files{
      {{"mqtt.ca", &options.ca},
       {"mqtt.certificate", &options.certificate},
       {"mqtt.key", &options.key}}};
  for (const auto& [name, file] : files) {
    if (file->empty()) continue;
    if (!address.tls) {
      throw config_error(fmt::format("{} is for a broker with TLS: mqtt.url=mqtts://...", name));
    }
    if (file == &options.key) {
      read_secret(name, *file);
    } else {
      read_input(name, *file);
    }
  }
  if (options.certificate.empty() != options.key.empty()) {
    throw config_error("mqtt.certificate and mqtt.key belong together: set both or none");
  }
}

std::string read_password(const MqttOptions& options, const MqttAddress& address) {
  if (options.password_file.empty()) return {};
  if (address.user.empty()) {
    throw config_error("mqtt.password-file needs a user in mqtt.url, as mqtt://USER@HOST");
  }
  std::string password = read_secret_line("mqtt.password-file", options.password_file);
  if (!password.empty()) return password;
  throw config_error(
      fmt::format("mqtt.password-file {}: its first line is empty", options.password_file));
}

// The lines of a file of headers.
std::vector<std::string> read_headers(const std::string& file) {
  std::vector<std::string> headers;
  if (file.empty()) return headers;
  std::istringstream lines(read_secret("webhook.headers-file", file));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) headers.push_back(std::move(line));
  }
  return headers;
}

std::optional<WebhookSettings> resolve_webhook(const RunOptions& options) {
  const WebhookOptions& webhook = options.webhook;
  if (!webhook.sends()) return std::nullopt;
  if (!webhook.url.empty() && !webhook.url_file.empty()) {
    throw config_error("webhook.url and webhook.url-file exclude each other");
  }
  check_webhook_module();
  WebhookText text;
  text.url = webhook.url;
  text.url_is_secret = webhook.url.empty();
  if (text.url_is_secret) text.url = read_secret_line("webhook.url-file", webhook.url_file);
  text.method = webhook.method;
  text.headers = webhook.headers;
  text.secret_headers = read_headers(webhook.headers_file);
  text.body = webhook.body;
  text.form = webhook.form;
  text.picture = webhook.picture;
  text.states = webhook.states;
  WebhookSettings settings = parse_webhook(text);
  if (!webhook.ca.empty()) read_input("webhook.ca", webhook.ca);
  settings.connection = {webhook.ca, webhook.timeout};
  return settings;
}

std::optional<GpioReporterOptions> resolve_gpio(const RunOptions& options) {
  const GpioOptions& gpio = options.gpio;
  if (!gpio.line) return std::nullopt;
  if (gpio.states.empty()) {
    throw config_error("gpio.line needs gpio.states: the labels for which the line is active");
  }
  if (std::count(gpio.states.begin(), gpio.states.end(), "unknown") > 0) {
    throw config_error("gpio.states: the line is never active while the state is unknown");
  }
  const auto& watches = options.watches;
  const bool is_known = std::any_of(watches.begin(), watches.end(), [&gpio](const auto& watch) {
    return watch.name == gpio.watch;
  });
  // What an owner teaches must not end the service: GpioReporter warns then.
  const bool has_configured =
      std::any_of(watches.begin(), watches.end(), [](const auto& watch) { return !watch.taught; });
  if (gpio.watch.empty() && has_configured) {
    throw config_error("gpio.watch: name the watch whose state counts, of [watch.NAME]");
  }
  // One that is taught may come later.
  if (!gpio.watch.empty() && !is_known && !options.http.teach) {
    throw config_error(fmt::format("gpio.watch: there is no [watch.{}]", gpio.watch));
  }
  GpioLineOptions line{gpio.chip, static_cast<std::uint32_t>(*gpio.line), gpio.active_low};
  return GpioReporterOptions{std::move(line), gpio.states, gpio.watch};
}

constexpr const char* kTrace = "trace";

void check_folders(const RunOptions& options) {
  const std::string& snapshots = options.events.snapshot_on_change;
  if (!snapshots.empty()) check_snapshot_folder(snapshots);
  if (!options.history.folder.empty()) check_state_folder("history.folder", options.history.folder);
}

}  // namespace

ResolvedRun resolve(const RunOptions& options) {
  std::optional<AtomicFile> trace;
  if (!options.profile.trace.empty()) trace.emplace(kTrace, options.profile.trace);
  ResolvedRun run = resolve_start(options);
  run.trace = std::move(trace);
  require_frames(options.camera.source, source_options(options.camera, {}));
  check_folders(options);
  if (run.gpio) describe_gpio_line(run.gpio->line);
  return run;
}

void check_next_start(const RunOptions& next, const RunOptions& now) {
  if (!next.profile.trace.empty()) check_can_write(kTrace, next.profile.trace);
  const ResolvedRun run = resolve_start(next);
  const SourceOptions source = source_options(next.camera, {});
  if (std::holds_alternative<LocalPath>(parse_source_uri(next.camera.source, source))) {
    require_frames(next.camera.source, source);
  }
  check_folders(next);
  const bool is_held = now.gpio.line == next.gpio.line && now.gpio.chip == next.gpio.chip;
  if (run.gpio && !is_held) describe_gpio_line(run.gpio->line);
}

ResolvedRun resolve_start(const RunOptions& options) {
  ResolvedRun run;
  for (const Watch& watch : watches_of(options)) {
    const auto& command = watch.options.events.on_change;
    if (!command.empty()) check_program("--on-change", command[0]);
  }
  resolve_http(options.http, run);
  resolve_login(options, run);
  run.mqtt = resolve_mqtt(options.mqtt);
  run.webhook = resolve_webhook(options);
  run.gpio = resolve_gpio(options);
  require_source(options.camera.source, source_options(options.camera, {}));
  std::error_code not_there;
  run.one_picture = has_picture_extension(options.camera.source) &&
                    std::filesystem::is_regular_file(options.camera.source, not_there);
  run.stats_interval = options.log.stats_interval;
  if (run.stats_interval.count() == 0) {
    const bool journal = is_journal(results_fd()) || is_journal(STDERR_FILENO);
    run.stats_interval = journal ? std::chrono::minutes(1) : std::chrono::seconds(1);
  }
  return run;
}

std::optional<MqttLinkOptions> resolve_mqtt(const MqttOptions& options) {
  if (options.url.empty()) return std::nullopt;
  check_mqtt_module();
  const MqttAddress address = parse_mqtt_address(options.url);
  check_tls(options, address);
  MqttLinkOptions link;
  MqttSettings& settings = link.settings;
  settings.client_id = "lookout-" + machine_id() + "-command";
  settings.host = address.path.empty() ? address.host : address.path;
  settings.port = address.port;
  settings.user = address.user;
  settings.password = read_password(options, address);
  settings.tls = address.tls;
  settings.ca = options.ca;
  settings.certificate = options.certificate;
  settings.key = options.key;
  link.party = {to_text(address), settings.client_id, is_service()};
  return link;
}

void require_token(const HttpOptions& options, const std::string& address) {
  if (options.insecure || options.teach || !options.token_file.empty()) return;
  throw config_error(
      fmt::format("http: other machines could look at {} without a token: set http.token-file, "
                  "http.teach=true with a password, or http.insecure=true to allow that",
                  address));
}

std::string password_file(const RunOptions& options) {
  if (!options.http.password_file.empty() || options.config_file.empty()) {
    return options.http.password_file;
  }
  return std::filesystem::path(options.config_file).replace_extension("password").string();
}

SourceOptions source_options(const CameraOptions& options, const InputSpec& input) {
  SourceOptions source_options = options.source_options;
  const cv::Size needed = useful_size(input, options.view);
  source_options.needed_width = needed.width;
  source_options.needed_height = needed.height;
  source_options.wait = options.wait == Wait::kAuto ? is_service() : options.wait == Wait::kYes;
  return source_options;
}

SourceOptions largest(const std::vector<SourceOptions>& wishes) {
  SourceOptions all = wishes.front();
  for (const SourceOptions& one : wishes) {
    all.needed_width = std::max(all.needed_width, one.needed_width);
    all.needed_height = std::max(all.needed_height, one.needed_height);
  }
  return all;
}

}  // namespace lookout
