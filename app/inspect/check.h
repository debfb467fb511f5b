// One finding of lookout doctor.
#pragma once

#include <string>

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

}  // namespace lookout
