#include "app/install/qr_code.h"

#include <qrencode.h>

#include <memory>

namespace lookout {

std::string qr_code(const std::string& text) {
  constexpr int kMaxVersion = 5;  // of 37 modules
  constexpr int kFrame = 2;       // four are asked for, two are enough on a screen
  const std::unique_ptr<QRcode, void (*)(QRcode*)> code(
      QRcode_encodeString8bit(text.c_str(), 0, QR_ECLEVEL_L), QRcode_free);
  if (!code || code->version > kMaxVersion) return {};
  const auto is_black = [&code](int x, int y) {
    const bool is_inside = x >= 0 && y >= 0 && x < code->width && y < code->width;
    return is_inside && (code->data[y * code->width + x] & 1U) != 0;
  };
  std::string lines;
  for (int y = -kFrame; y < code->width + kFrame; y += 2) {
    lines += "  \x1b[30;107m";
    for (int x = -kFrame; x < code->width + kFrame; ++x) {
      const bool upper = is_black(x, y);
      const bool lower = is_black(x, y + 1);
      lines += upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ");
    }
    lines += "\x1b[0m\n";
  }
  return lines;
}

}  // namespace lookout
