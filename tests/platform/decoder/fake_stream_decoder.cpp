// Stands in for lookout-stream-decoder, and does what the address says: DEED, or opens the video
// first: live/DEED, file/DEED.
#include <dirent.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "platform/decoder/stream_protocol.h"

namespace lookout {
namespace {

constexpr int kFakeWidth = 2;
constexpr int kFakeHeight = 1;

template <typename Message>
void send_bytes(const Message& message, std::size_t size = sizeof(Message)) {
  static_cast<void>(send(kStreamSocket, &message, size, MSG_NOSIGNAL));
}

StreamMessage message_of(StreamMessageKind kind, int number, const std::string& text = "") {
  StreamMessage message{};
  message.kind = kind;
  message.number = number;
  text.copy(message.text.data(), message.text.size() - 1);
  return message;
}

StreamMessage frame_in(int slot) {
  StreamMessage frame = message_of(StreamMessageKind::kFrame, slot);
  frame.width = kFakeWidth;
  frame.height = kFakeHeight;
  frame.media_time = -1;
  return frame;
}

// The highest of the process.
int highest_descriptor() {
  DIR* folder = opendir("/proc/self/fd");
  int highest = -1;
  while (const dirent* entry = readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    if (fd != dirfd(folder)) highest = std::max(highest, fd);
  }
  closedir(folder);
  return highest;
}

bool shows(const char* file, const std::string& text) {
  std::ifstream stream(file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  return content.find(text) != std::string::npos;
}

// What makes a frame that is none.
const std::map<std::string, void (*)(StreamMessage&)> kWrongFrames{
    {"wide", [](StreamMessage& frame) { frame.width = 1'000'001; }},
    {"large", [](StreamMessage& frame) { frame.width = frame.height = 16'384; }},
    {"negative", [](StreamMessage& frame) { frame.width = frame.height = -1; }},
    {"zero", [](StreamMessage& frame) { frame.width = 0; }},
    {"other slot", [](StreamMessage& frame) { frame.number = kStreamSlots; }},
    {"negative slot", [](StreamMessage& frame) { frame.number = -1; }},
    {"endless text", [](StreamMessage& frame) { frame.text.fill('x'); }},
    {"other kind", [](StreamMessage& frame) { frame.kind = StreamMessageKind{1000}; }},
    {"second report", [](StreamMessage& frame) { frame.kind = StreamMessageKind::kReport; }},
    {"second opening", [](StreamMessage& frame) { frame.kind = StreamMessageKind::kOpened; }},
};

void describe_oneself(const std::string& url) {
  const bool is_shown = shows("/proc/self/cmdline", url) || shows("/proc/self/environ", url);
  send_bytes(message_of(StreamMessageKind::kError, 66,
                        std::to_string(highest_descriptor()) + (is_shown ? " shown" : " hidden")));
}

void obey(const std::string& deed) {
  if (deed == "hangs") pause();
  if (deed == "exits") _exit(3);
  if (deed == "aborts") std::abort();
  if (deed == "ends") return send_bytes(message_of(StreamMessageKind::kEnd, 0));
  if (deed == "short") return send_bytes(frame_in(0), sizeof(StreamMessage) - 1);
  if (deed == "asks nonsense") {
    static_cast<void>(send(kStreamNetwork, "?", 1, MSG_NOSIGNAL));
    return send_bytes(frame_in(0));
  }
  if (deed == "chatters") {
    for (int i = 0; i < 100; ++i) send_bytes(message_of(StreamMessageKind::kLog, 2, "a\nline"));
    return send_bytes(frame_in(0));
  }
  if (deed == "odd times") {
    StreamMessage frame = frame_in(1);
    frame.captured = INT64_MAX;
    frame.duration = INT64_MIN;
    frame.media_time = 1000;
    send_bytes(frame);
    frame.captured = INT64_MIN;
    frame.duration = INT64_MAX;
    frame.media_time = 10;
    return send_bytes(frame);
  }
  StreamMessage frame = frame_in(0);
  if (const auto wrong = kWrongFrames.find(deed); wrong != kWrongFrames.end()) wrong->second(frame);
  send_bytes(frame);
}

}  // namespace
}  // namespace lookout

int main() {
  using namespace lookout;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  StreamOrder order{};
  if (recv(kStreamSocket, &order, sizeof order, 0) != sizeof order) return 1;
  const std::string url = order.url.data();
  if (url == "exits at once") return 3;
  if (url == "no FFmpeg") {
    send_bytes(message_of(StreamMessageKind::kError, 72, "no FFmpeg"));
    return 0;
  }
  send_bytes(message_of(StreamMessageKind::kReport, 0));
  if (url == "secret") describe_oneself(url);
  if (url == "odd error") send_bytes(message_of(StreamMessageKind::kError, 72, "is\nbroken"));
  const auto slash = url.find('/');
  if (slash != std::string::npos) {
    const bool is_live = url.compare(0, slash, "live") == 0;
    send_bytes(message_of(StreamMessageKind::kOpened, is_live ? 1 : 0, "a video"));
  }
  obey(slash == std::string::npos ? url : url.substr(slash + 1));
  pause();
}
