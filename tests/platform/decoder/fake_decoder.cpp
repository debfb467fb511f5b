// Stands in for lookout-decoder, and does what the order's file says.
#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <map>
#include <string>

#include "platform/decoder/decoder_protocol.h"
#include "platform/pictures/decoded_picture.h"

namespace lookout {
namespace {

template <typename Message>
void send_bytes(const Message& message, std::size_t size = sizeof(Message)) {
  static_cast<void>(send(kDecoderSocket, &message, size, MSG_NOSIGNAL));
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

void fill_memory() {
  const std::string bytes(1 << 20, 'x');
  for (const int fd : {kDecoderErrors, kDecoderInput, kDecoderOutput}) {
    for (off_t end = 0; end < 20 << 20; end += static_cast<off_t>(bytes.size())) {
      static_cast<void>(pwrite(fd, bytes.data(), bytes.size(), end) < 0);
    }
  }
}

// What makes an answer that is none, by the order's text.
const std::map<std::string, void (*)(DecodeAnswer&)> kWrongAnswers{
    {"wide", [](DecodeAnswer& answer) { answer.width = 1'000'000; }},
    {"large", [](DecodeAnswer& answer) { answer.width = answer.height = 16'000; }},
    {"negative", [](DecodeAnswer& answer) { answer.width = answer.height = -1; }},
    {"zero", [](DecodeAnswer& answer) { answer.width = 0; }},
    {"other number", [](DecodeAnswer& answer) { ++answer.number; }},
    {"problem", [](DecodeAnswer& answer) { answer.problem = 1000; }},
    {"negative problem", [](DecodeAnswer& answer) { answer.problem = -1; }},
    {"endless text", [](DecodeAnswer& answer) { answer.message.fill('x'); }},
};

void misbehave(const std::string& deed, DecodeAnswer& answer) {
  if (deed == "short") return send_bytes(answer, sizeof answer - 1);
  if (deed == "long") return send_bytes(std::array<DecodeAnswer, 2>{answer, answer});
  if (deed == "empty") return send_bytes(answer, 0);
  if (deed == "hangs") pause();
  if (deed == "exits") _exit(3);
  if (deed == "aborts") std::abort();
  if (const auto wrong = kWrongAnswers.find(deed); wrong != kWrongAnswers.end()) {
    wrong->second(answer);
  }
  send_bytes(answer);
}

void obey(const std::string& order, DecodeAnswer& answer) {
  if (order == "descriptors") {
    answer.width = highest_descriptor();
    send_bytes(answer);
  } else if (order == "text") {
    answer.problem = static_cast<std::int32_t>(DecodeProblem::kDamaged);
    answer.width = answer.height = 0;
    answer.message = {"is\nbroken"};
    send_bytes(answer);
  } else if (order == "twice") {
    send_bytes(answer);
    send_bytes(answer);
  } else if (order == "memory") {
    fill_memory();
    send_bytes(answer);
  } else {
    misbehave(order, answer);
  }
}

}  // namespace
}  // namespace lookout

int main() {
  using namespace lookout;
  send_bytes(DecoderReport{0});
  DecodeOrder order{};
  while (recv(kDecoderSocket, &order, sizeof order, 0) == sizeof order) {
    std::string text(order.size, '\0');
    if (pread(kDecoderInput, text.data(), text.size(), 0) < 0) return 1;
    DecodeAnswer answer{};
    answer.number = order.number;
    answer.width = 2;
    answer.height = 1;
    obey(text, answer);
  }
}
