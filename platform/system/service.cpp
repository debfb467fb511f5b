#include "platform/system/service.h"

#include <cstdlib>

namespace lookout {

bool is_service() { return std::getenv("NOTIFY_SOCKET") != nullptr; }

}  // namespace lookout
