// How programs of this machine's owner read the metrics where guests see nothing.
#pragma once

#include <string>

#include "pipeline/core/sha256.h"

namespace lookout {

// What is sent as `Authorization: Bearer KEY` for /metrics alone, by who may read the file with the
// hash of the password: root and the service. It does not tell the hash.
inline std::string metrics_key(const std::string& password_hash) {
  return sha256("lookout metrics\n" + password_hash);
}

}  // namespace lookout
