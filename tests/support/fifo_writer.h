// Writes into a FIFO, as another program does.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>

namespace lookout {

// Waits for a reader, then writes until all is written or the reader is gone. The destructor waits
// for that.
class FifoWriter {
 public:
  FifoWriter(std::string path, std::string bytes)
      : thread_([path = std::move(path), bytes = std::move(bytes)] {
          std::signal(SIGPIPE, SIG_IGN);
          const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
          for (std::size_t done = 0; done < bytes.size();) {
            const ssize_t count = ::write(fd, bytes.data() + done, bytes.size() - done);
            if (count < 0) break;
            done += static_cast<std::size_t>(count);
          }
          ::close(fd);
        }) {}
  ~FifoWriter() { thread_.join(); }
  FifoWriter(const FifoWriter&) = delete;
  FifoWriter& operator=(const FifoWriter&) = delete;

 private:
  std::thread thread_;
};

}  // namespace lookout
