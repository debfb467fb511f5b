// Bytes that end where memory ends: whoever reads on crashes, also code without AddressSanitizer.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace lookout {

class GuardedBytes {
 public:
  // Aborts when `size` is more than kMax.
  const unsigned char* hold(const unsigned char* bytes, std::size_t size) {
    if (size > kMax) std::abort();
    unsigned char* begin = memory_ + kMax - size;
    if (size > 0) std::memcpy(begin, bytes, size);
    return begin;
  }

  static constexpr std::size_t kMax = 64 << 10;  // whole pages

 private:
  static unsigned char* map() {
    const auto guard = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* memory =
        mmap(nullptr, kMax + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    auto* bytes = static_cast<unsigned char*>(memory);
    if (mprotect(bytes + kMax, guard, PROT_NONE) != 0) std::abort();
    return bytes;
  }

  unsigned char* const memory_ = map();  // never unmapped
};

}  // namespace lookout
