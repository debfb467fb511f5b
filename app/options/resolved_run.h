// What the options of a run come to: its files of secrets are read, its addresses parsed, and what
// it needs is checked, once and before a model is loaded.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "pipeline/core/input_spec.h"
#include "platform/gpio/gpio_reporter.h"
#include "platform/http/http_access.h"
#include "platform/http/http_address.h"
#include "platform/mqtt/mqtt_link.h"
#include "platform/system/atomic_file.h"
#include "platform/webhook/webhook_settings.h"

namespace lookout {

struct ResolvedRun {
  std::optional<AtomicFile> trace;          // nothing: no trace is written
  std::optional<HttpAddress> http_address;  // nothing: only the sockets of systemd
  HttpAccess http_access;
  std::optional<std::string> http_password;  // the file; nothing: nobody can log in
  // As of a command; a run sets client and will. Nothing: nothing is published.
  std::optional<MqttLinkOptions> mqtt;
  std::optional<WebhookSettings> webhook;   // nothing: no messages are sent
  std::optional<GpioReporterOptions> gpio;  // nothing: no line is set
  std::chrono::milliseconds stats_interval{};
  bool one_picture = false;  // the source is the path of a single picture
};

// All that shows before a model is loaded, in this order: the file of the trace, what
// resolve_start() checks, the source's pictures or camera, the folders of snapshots and of the
// history, the GPIO line. Throws Error.
ResolvedRun resolve(const RunOptions& options);

// Checks what resolve() would for the next start while a run with the options `now` goes on:
// without an effect on the disk, on cameras of the CSI or on the GPIO line that the run holds.
// Throws as it does.
void check_next_start(const RunOptions& next, const RunOptions& now);

// A part of it, which changes nothing on the disk: the command, HTTP, MQTT, messages, what the
// options say of a GPIO line, and that the source is there. Throws Error.
ResolvedRun resolve_start(const RunOptions& options);

// A part of that. Nothing when no broker is set. Throws Error(kUnsupported) when libmosquitto or
// the module is missing, Error(kConfig) when the options do not go together or a password is empty,
// and what read_input() throws for a file.
std::optional<MqttLinkOptions> resolve_mqtt(const MqttOptions& options);

// Throws Error(kConfig) when other machines could look at `address` without a token and without the
// password of http.teach, and nobody allowed that.
void require_token(const HttpOptions& options, const std::string& address);

// The file with the hash of the password that owners log in with: http.password-file, else
// NAME.password beside the configuration NAME.toml. Empty: there is neither.
std::string password_file(const RunOptions& options);

// How the source is opened for a model with that input.
SourceOptions source_options(const CameraOptions& options, const InputSpec& input);

// How it is opened for several regions of the picture, of at least one such options: so that each
// gets the pixels that its model uses.
SourceOptions largest(const std::vector<SourceOptions>& wishes);

}  // namespace lookout
