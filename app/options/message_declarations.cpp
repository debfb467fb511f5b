// The options of what a change of the state does elsewhere: MQTT, messages and a GPIO line.
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "app/options/options.h"
#include "app/options/settings.h"
#include "platform/mqtt/mqtt_address.h"
#include "platform/mqtt/mqtt_topics.h"

namespace lookout {
namespace {

constexpr double kMaxGpioLine = 4095;

// Adds settings of one section.
auto key_adder(Settings& settings, const char* section) {
  return
      [&settings, section](const char* key, Value value, const char* help, const char* flag = "") {
        settings.add(section, key, std::move(value), help, flag);
      };
}

void check_mqtt_address(const std::string& text) {
  if (!text.empty()) parse_mqtt_address(text);
}

Value topic_prefix(std::string& member, bool may_be_empty) {
  Value value =
      parsed(member, "the beginning of topics, without wildcards and without '/' at its ends",
             "TOPIC", [may_be_empty](const std::string& text) {
               const bool good = text.empty() ? may_be_empty : is_topic_prefix(text);
               return good ? std::optional(text) : std::nullopt;
             });
  value.default_text = member;
  return value;
}

}  // namespace

void declare(Settings& settings, MqttOptions& options) {
  const auto add = key_adder(settings, "mqtt");
  add("url", text(options.url, "URL", check_mqtt_address),
      "Publish states, pictures and statistics to this MQTT broker, for Home Assistant "
      "and others: mqtt://[USER@]HOST[:1883], mqtts://[USER@]HOST[:8883] or "
      "mqtt+unix:[USER@]PATH; default: none",
      "--mqtt");
  add("prefix", topic_prefix(options.prefix, /*may_be_empty=*/false),
      "Beginning of the topics, before the camera's name");
  add("password-file", text(options.password_file, "FILE"),
      "File whose first line is the password of the user in the URL");
  add("ca", text(options.ca, "FILE"),
      "File with the certificate of the CA that signed the broker's certificate; default: "
      "the system's CAs");
  add("certificate", text(options.certificate, "FILE"),
      "File with a certificate to show to the broker");
  add("key", text(options.key, "FILE"), "File with the key of this certificate");
  add("discovery", topic_prefix(options.discovery, /*may_be_empty=*/true),
      "Discovery prefix of Home Assistant; empty: no discovery");
  add("interval", time_value(options.interval, {std::chrono::seconds(1), false}),
      "Minimum time between two statistics");
  add("pictures",
      choice<MqttPictures>(options.pictures,
                           {{"changes", MqttPictures::kChanges}, {"none", MqttPictures::kNone}}),
      "Pictures to publish: one when the state changes, at most one in 10 s, or none");
  add("commands", boolean(options.commands),
      "Accept commands from the broker: pause and release the camera, take a picture");
}

void declare(Settings& settings, WebhookOptions& options) {
  const auto add = key_adder(settings, "webhook");
  add("url", text(options.url, "URL"),
      "Send a message to this URL, http://... or https://..., when the state changes; default: "
      "none. In URL, headers, body and form {camera}, {watch}, {state}, {previous}, {score} and "
      "{time} stand for what changed");
  add("url-file", text(options.url_file, "FILE"),
      "File whose first line is the URL, for one that has a password or token in it");
  add("method",
      choice<std::string>(options.method, {{"POST", "POST"}, {"PUT", "PUT"}, {"GET", "GET"}}),
      "Method of the request; GET sends the URL and headers alone");
  add("headers",
      lines(options.headers, "headers, as in Title: {camera}, one on each line", "HEADERS"),
      "Headers of the request, each as Name: value");
  add("headers-file", text(options.headers_file, "FILE"),
      "File with more headers, one on each line, for those that have a token; sent as they are");
  add("body", text(options.body, "TEXT"),
      "Body of the request; when it begins as JSON, values are written as JSON has them; default: "
      "{camera}: {state}, and with watches {camera}, {watch}: {state}");
  add("form", lines(options.form, "fields, as in chat_id: 42, one on each line", "FIELDS"),
      "Fields of a form that is sent instead of a body, each as name: value");
  add("picture", text(options.picture, "WHERE"),
      "Where the picture of the change is sent, as JPEG: body, or the name of a field of the form; "
      "default: nowhere");
  add("states", lines(options.states, "labels, one on each line", "LABELS"),
      "Send only changes to one of these states, labels or unknown; default: all");
  add("ca", text(options.ca, "FILE"),
      "File with the certificate of the CA that signed the server's certificate; default: the "
      "system's CAs");
  add("timeout",
      time_value(options.timeout,
                 {std::chrono::milliseconds(100), false, std::chrono::minutes(10)}),
      "Give a request up after this time; it is tried again");
}

void declare(Settings& settings, GpioOptions& options) {
  const auto add = key_adder(settings, "gpio");
  add("line", number(options.line, 0, kMaxGpioLine),
      "Make this line of the GPIO chip active while the state is one of gpio.states: its number on "
      "the chip, as 17; default: none");
  add("chip", text(options.chip, "FILE"), "The GPIO chip");
  add("states", lines(options.states, "labels, one on each line", "LABELS"),
      "Labels for which the line is active; it is inactive for others, while the state is unknown "
      "and while the camera is away");
  add("active-low", boolean(options.active_low), "The active line is at 0 V");
  add("watch", text(options.watch, "NAME"),
      "The watch whose state counts, where there are several");
}

}  // namespace lookout
