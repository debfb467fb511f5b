#include "platform/system/machine_id.h"

#include <systemd/sd-id128.h>
#include <unistd.h>

#include <array>

#include "pipeline/core/sha256.h"

namespace lookout {
namespace {

constexpr std::size_t kDigits = 12;

// The id of lookout: any number that nothing else has.
constexpr sd_id128_t kApplication{{0x8d, 0x1b, 0x6f, 0x0e, 0x5c, 0x2a, 0x4f, 0x37, 0x9e, 0x44, 0x71,
                                   0xd0, 0x3a, 0xb9, 0xc6, 0x52}};

}  // namespace

std::string machine_id() {
  sd_id128_t id{};
  if (sd_id128_get_machine_app_specific(kApplication, &id) >= 0) {
    std::array<char, SD_ID128_STRING_MAX> text{};
    return std::string(sd_id128_to_string(id, text.data())).substr(0, kDigits);
  }
  return sha256(full_host_name()).substr(0, kDigits);
}

std::string full_host_name() {
  std::array<char, 256> host{};
  static_cast<void>(gethostname(host.data(), host.size() - 1));
  return host.data();
}

std::string host_name() {
  const std::string name = full_host_name();
  return name.substr(0, name.find('.'));
}

}  // namespace lookout
