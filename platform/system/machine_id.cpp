#include "platform/system/machine_id.h"

#include <systemd/sd-id128.h>
#include <unistd.h>

#include <array>

#include "pipeline/model/sha256.h"

namespace lookout {
namespace {

constexpr std::size_t kDigits = 12;

// Of lookout: any number that nothing else has.
constexpr sd_id128_t kApplication =
    SD_ID128_MAKE(8d, 1b, 6f, 0e, 5c, 2a, 4f, 37, 9e, 44, 71, d0, 3a, b9, c6, 52);

}  // namespace

std::string machine_id() {
  sd_id128_t id{};
  if (sd_id128_get_machine_app_specific(kApplication, &id) >= 0) {
    std::array<char, SD_ID128_STRING_MAX> text{};
    return std::string(sd_id128_to_string(id, text.data())).substr(0, kDigits);
  }
  std::array<char, 256> host{};
  static_cast<void>(gethostname(host.data(), host.size() - 1));
  return sha256(host.data()).substr(0, kDigits);
}

}  // namespace lookout
