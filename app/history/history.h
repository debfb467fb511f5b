// `lookout history`: what the state was, and since when.
#pragma once

#include <functional>
#include <string_view>

#include "app/options/options.h"

namespace lookout {

// Prints what the options ask for. Throws Error(kUsage) for a time that is none, Error(kNoInput)
// when there is no history, Error(kPermission) when it may not be read, and Error(kBadData) when
// it is damaged.
void show_history(const HistoryViewOptions& options,
                  const std::function<void(std::string_view)>& print);

}  // namespace lookout
