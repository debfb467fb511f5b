// A QR code for a phone's camera, drawn in a terminal.
#pragma once

#include <string>

namespace lookout {

// Lines of half blocks, black on white whatever the terminal's colors are, with the white frame
// that readers need. Empty when the text is too long for a code of 40 modules.
std::string qr_code(const std::string& text);

}  // namespace lookout
