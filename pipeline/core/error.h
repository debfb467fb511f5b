// The one exception type of lookout: what went wrong, in a sentence for the user, and the category
// that becomes the program's exit status.
#pragma once

#include <stdexcept>
#include <string>

namespace lookout {

// Values are those of sysexits(3).
enum class ErrorKind {
  kUsage = 64,        // command line
  kBadData = 65,      // a model archive, labels or another file with wrong content
  kNoInput = 66,      // device, file or folder absent or unreadable
  kDeviceLost = 69,   // a camera, or the journal, gone for good
  kInternal = 70,     // a bug, or a library that failed in an unforeseen way
  kUnsupported = 72,  // this build or machine cannot do that: a module or its library is missing
  kOutput = 74,       // results cannot be written
  kPermission = 77,
  kConfig = 78,  // configuration file or environment
};

class Error : public std::runtime_error {
 public:
  // `sentence` names the device, file or option and, where there is one, the way out.
  Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}

  ErrorKind kind() const { return kind_; }
  int exit_status() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

}  // namespace lookout
