// The module liblookout-mqtt.so: the only file that includes libmosquitto.
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <netdb.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "platform/mqtt/mqtt_transport.h"

namespace lookout {
namespace {

constexpr int kKeepalive = 15;  // s; a dead broker is noticed after twice that
constexpr const char* kSystemCas = "/etc/ssl/certs";

const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

class MosquittoTransport : public MqttTransport {
 public:
  MosquittoTransport(const MqttSettings& settings, MqttListener& listener)
      : settings_(settings),
        listener_(listener),
        client_(mosquitto_new(settings.client_id.c_str(), /*clean_session=*/true, this)) {
    if (client_ == nullptr) throw std::runtime_error(std::strerror(errno));
    set_callbacks();
  }
  ~MosquittoTransport() override { mosquitto_destroy(client_); }
  MosquittoTransport(const MosquittoTransport&) = delete;
  MosquittoTransport& operator=(const MosquittoTransport&) = delete;

  std::optional<MqttFailure> connect() override {
    if (const int status = configure(); status != MOSQ_ERR_SUCCESS) return failure(status);
    const int status =
        mosquitto_connect_async(client_, settings_.host.c_str(), settings_.port, kKeepalive);
    if (status == MOSQ_ERR_SUCCESS) return std::nullopt;
    MqttFailure why = failure(status);
    if (why.kind == MqttFailure::Kind::kOther) why.kind = MqttFailure::Kind::kConnect;
    return why;
  }

  int fd() const override { return mosquitto_socket(client_); }
  bool wants_write() const override { return mosquitto_want_write(client_); }

  std::optional<MqttFailure> advance(bool readable, bool writable) override {
    int status = fd() < 0 ? static_cast<int>(MOSQ_ERR_CONN_LOST) : MOSQ_ERR_SUCCESS;
    if (status == MOSQ_ERR_SUCCESS && readable) status = mosquitto_loop_read(client_, 1);
    if (status == MOSQ_ERR_SUCCESS && writable) status = mosquitto_loop_write(client_, 1);
    if (status == MOSQ_ERR_SUCCESS) status = mosquitto_loop_misc(client_);
    if (status == MOSQ_ERR_SUCCESS) return std::nullopt;
    return failure(status);
  }

  MqttPublished publish(const MqttMessage& message) override {
    MqttPublished published;
    const int status = mosquitto_publish_v5(
        client_, &published.id, message.topic.c_str(), static_cast<int>(message.payload.size()),
        message.payload.data(), message.qos, message.retained, nullptr);
    if (status == MOSQ_ERR_SUCCESS) return published;
    if (status == MOSQ_ERR_OVERSIZE_PACKET || status == MOSQ_ERR_PAYLOAD_SIZE) return {0, true};
    const bool ended = status == MOSQ_ERR_NO_CONN || status == MOSQ_ERR_CONN_LOST ||
                       status == MOSQ_ERR_ERRNO || status == MOSQ_ERR_TLS;
    return {0, false, ended ? "" : mosquitto_strerror(status)};
  }

  void subscribe(const std::string& topic) override {
    mosquitto_subscribe(client_, nullptr, topic.c_str(), 1);
  }

  void unsubscribe(const std::string& topic) override {
    mosquitto_unsubscribe(client_, nullptr, topic.c_str());
  }

  void disconnect() override { mosquitto_disconnect(client_); }

 private:
  static MosquittoTransport& of(void* transport) {
    return *static_cast<MosquittoTransport*>(transport);
  }

  void set_callbacks() {
    mosquitto_connect_v5_callback_set(
        client_, [](mosquitto*, void* self, int reason, int, const mosquitto_property*) {
          if (reason == 0) return of(self).listener_.on_connected();
          of(self).listener_.on_refused(reason);
        });
    mosquitto_disconnect_v5_callback_set(
        client_, [](mosquitto*, void* self, int reason, const mosquitto_property*) {
          if (reason >= MQTT_RC_UNSPECIFIED) of(self).listener_.on_disconnected(reason);
        });
    mosquitto_publish_v5_callback_set(
        client_, [](mosquitto*, void* self, int id, int reason, const mosquitto_property*) {
          of(self).listener_.on_published(id, reason);
        });
    mosquitto_subscribe_callback_set(
        client_, [](mosquitto*, void* self, int, int count, const int* granted) {
          of(self).listener_.on_subscribed(count > 0 ? granted[0] : 0);
        });
    mosquitto_message_callback_set(
        client_, [](mosquitto*, void* self, const mosquitto_message* message) {
          const auto size = static_cast<std::size_t>(message->payloadlen);
          if (size > kMaxHeardBytes) return;
          const auto* payload = static_cast<const char*>(message->payload);
          of(self).listener_.on_message(
              {message->topic, payload == nullptr ? std::string() : std::string(payload, size),
               message->qos, message->retain});
        });
    mosquitto_log_callback_set(client_, [](mosquitto*, void* self, int level, const char* text) {
      // The first error is the cause of the others.
      if (level == MOSQ_LOG_ERR && of(self).error_.empty()) of(self).error_ = text;
    });
  }

  int configure() {
    mosquitto_int_option(client_, MOSQ_OPT_PROTOCOL_VERSION,
                         settings_.version_5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311);
    mosquitto_int_option(client_, MOSQ_OPT_TCP_NODELAY, 1);
    int status =
        mosquitto_username_pw_set(client_, or_null(settings_.user), or_null(settings_.password));
    if (status == MOSQ_ERR_SUCCESS && settings_.tls) {
      status = mosquitto_tls_set(client_, or_null(settings_.ca),
                                 settings_.ca.empty() ? kSystemCas : nullptr,
                                 or_null(settings_.certificate), or_null(settings_.key), nullptr);
    }
    if (status == MOSQ_ERR_SUCCESS && settings_.will) {
      const MqttMessage& will = *settings_.will;
      status =
          mosquitto_will_set(client_, will.topic.c_str(), static_cast<int>(will.payload.size()),
                             will.payload.data(), will.qos, will.retained);
    }
    return status;
  }

  // For a call that has just failed: it leaves errno alone.
  MqttFailure failure(int status) const {
    const int system = errno;
    using Kind = MqttFailure::Kind;
    switch (status) {
      case MOSQ_ERR_EAI:
        return {Kind::kName, gai_strerror(system)};
      case MOSQ_ERR_ERRNO:
        return {Kind::kOther, std::strerror(system)};
      case MOSQ_ERR_TLS:
        return {Kind::kTls, error_};
      case MOSQ_ERR_KEEPALIVE:
        return {Kind::kSilent, ""};
      case MOSQ_ERR_CONN_LOST:
      case MOSQ_ERR_NO_CONN:
      case MOSQ_ERR_CONN_REFUSED:
        return {Kind::kLost, error_};
      default:
        return {Kind::kOther, error_.empty() ? mosquitto_strerror(status) : error_};
    }
  }

  const MqttSettings settings_;
  MqttListener& listener_;
  mosquitto* const client_;
  std::string error_;
};

std::unique_ptr<MqttTransport> open(const MqttSettings& settings, MqttListener& listener) {
  static const int initialised = mosquitto_lib_init();
  static_cast<void>(initialised);
  return std::make_unique<MosquittoTransport>(settings, listener);
}

}  // namespace
}  // namespace lookout

extern "C" const lookout::MqttModule* lookout_mqtt() {
  static const lookout::MqttModule module{{lookout::kMqttInterface, LOOKOUT_VERSION},
                                          lookout::open};
  return &module;
}
