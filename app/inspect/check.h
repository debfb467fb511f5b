// A line of what lookout doctor tells.
#pragma once

#include <functional>
#include <string>

#include "pipeline/core/error.h"

namespace lookout {

struct Check {
  enum class State {
    kOk,
    kNote,     // worth knowing
    kFailure,  // keeps a run from starting
  };
  std::string name;
  State state = State::kOk;
  std::string text;
  int exit_status = 0;  // of a run with this failure; 0: it is no failure
};

// Tries something; `use` returns the text of the check. What fails is `if_it_fails`.
inline Check tried(const std::string& name, Check::State if_it_fails,
                   const std::function<std::string()>& use) {
  try {
    return {name, Check::State::kOk, use()};
  } catch (const Error& error) {
    return {name, if_it_fails, error.what(),
            if_it_fails == Check::State::kFailure ? error.exit_status() : 0};
  }
}

}  // namespace lookout
