// Whether the program is a service.
#pragma once

namespace lookout {

// Whether a service manager started the program (NOTIFY_SOCKET is set).
bool is_service();

}  // namespace lookout
