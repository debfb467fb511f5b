// A file that is open for reading while this object lives.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace lookout {

class OpenFile {
 public:
  // A FIFO without a writer is not waited for. Sets errno when it fails.
  explicit OpenFile(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // Negative: it could not be opened.
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace lookout
