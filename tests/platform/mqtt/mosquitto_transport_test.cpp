// The module with libmosquitto, against a broker that is a socket of the test.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "platform/mqtt/mqtt_client.h"
#include "platform/mqtt/mqtt_transport.h"
#include "tests/support/loopback_listener.h"

namespace lookout {
namespace {

class Events : public MqttListener {
 public:
  void on_connected() override { text += "connected "; }
  void on_refused(int reason) override { text += "refused " + std::to_string(reason) + " "; }
  void on_disconnected(int reason) override {
    text += "disconnected " + std::to_string(reason) + " ";
  }
  void on_published(int /*id*/, int /*reason*/) override {}
  void on_subscribed(int /*reason*/) override {}
  void on_message(const MqttMessage& message) override { text += message.payload + " "; }

  std::string text;
};

class MosquittoTransportTest : public testing::Test {
 protected:
  MosquittoTransportTest() {
    std::signal(SIGPIPE, SIG_IGN);  // as the program does
    settings_.client_id = "a-test";
    settings_.host = "127.0.0.1";
    settings_.port = listener_.port();
  }
  ~MosquittoTransportTest() override { close_connection(); }

  // Connects, and reads what the broker answers.
  void connect(bool version_5, const std::string& answer) {
    settings_.version_5 = version_5;
    events_.text.clear();
    transport_ = open_mosquitto(settings_, events_);
    ASSERT_FALSE(transport_->connect());
    close_connection();
    connection_ = listener_.accept();
    ASSERT_FALSE(transport_->advance(false, true));
    std::array<char, 200> request{};
    ASSERT_GT(::recv(connection_, request.data(), request.size(), 0), 0);
    ASSERT_EQ(::send(connection_, answer.data(), answer.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(answer.size()));
    pollfd waiting{transport_->fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&waiting, 1, -1), 1);
    transport_->advance(true, false);
  }
  void close_connection() {
    if (connection_ >= 0) ::close(connection_);
    connection_ = -1;
  }

  const LoopbackListener listener_;
  int connection_ = -1;
  MqttSettings settings_;
  Events events_;
  std::unique_ptr<MqttTransport> transport_;
};

TEST_F(MosquittoTransportTest, TheBrokersAnswerIsTold) {
  const auto told = [this](bool version_5, const std::string& answer) {
    connect(version_5, answer);
    return events_.text;
  };
  EXPECT_EQ(told(true, {"\x20\x03\0\0\0", 5}), "connected ");
  EXPECT_EQ(told(false, {"\x20\x02\0\0", 4}), "connected ");
  EXPECT_EQ(told(true, {"\x20\x03\0\x87\0", 5}), "refused 135 ");
  EXPECT_EQ(told(false, {"\x20\x02\0\5", 4}), "refused 5 ");
}

// A PUBLISH of QoS 0 to the topic "t".
std::string published(const std::string& payload) {
  std::string packet = "\x30";
  std::size_t left = 4 + payload.size();  // the topic with its length, the properties' length
  do {
    packet += static_cast<char>(left % 128 + (left >= 128 ? 128 : 0));
    left /= 128;
  } while (left > 0);
  return packet + std::string("\0\1t\0", 4) + payload;
}

TEST_F(MosquittoTransportTest, AMessageThatIsLongerThanAnyItListensForIsDropped) {
  connect(true, {"\x20\x03\0\0\0", 5});
  const std::string packets = published(std::string(kMaxHeardBytes + 1, 'x')) + published("short");
  ASSERT_EQ(::send(connection_, packets.data(), packets.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(packets.size()));
  while (events_.text == "connected ") ASSERT_FALSE(transport_->advance(true, false));
  EXPECT_EQ(events_.text, "connected short ");
}

TEST_F(MosquittoTransportTest, OfALostConnectionNoMessageIsToBlame) {
  connect(true, {"\x20\x03\0\0\0", 5});
  close_connection();
  MqttPublished published{1};
  while (published.id != 0) published = transport_->publish({"topic", "payload"});
  EXPECT_FALSE(published.too_large);
  EXPECT_EQ(published.problem, "");
}

}  // namespace
}  // namespace lookout
