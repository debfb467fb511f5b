// The history of a run for programs: what GET answers below /api/1/.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "platform/history/history_readers.h"
#include "platform/http/background_work.h"
#include "platform/http/http_message.h"

namespace lookout {

// Reads the database anew for each request, so that it may be replaced meanwhile. A thread of its
// own reads, one request after the other: a long list delays neither streams nor who holds a
// button. Unless a function says otherwise, it is used by the server's thread alone.
class HistoryService {
 public:
  static constexpr std::size_t kMaxRows = 10'000;  // of an answer
  static constexpr std::size_t kRows = 200;        // without `limit`
  // Requests that wait: more than one address has connections.
  static constexpr std::size_t kMaxWaiting = 32;

  // `folder`: of the history; empty: there is none. `readers`: hear of each answer; null: nobody.
  // Throws as BackgroundWork.
  explicit HistoryService(std::filesystem::path folder,
                          std::shared_ptr<HistoryReaders> readers = nullptr);

  // `wake` is called by the thread when poll() has something to do.
  void set_wake(std::function<void()> wake);
  void poll();

  // The route of a path, of a few names: "/api/1/events". Null: it is not of this service.
  const char* route(std::string_view path) const;

  // Answers a request with a route, later; 503 `busy` at once when too many wait.
  void handle(const HttpRequest& request, const HttpRespond& respond);

  // Of a path with a route. Any thread; waits for the disk.
  HttpResponse answer(const HttpRequest& request) const;

 private:
  const std::filesystem::path folder_;
  const std::shared_ptr<HistoryReaders> readers_;
  std::optional<BackgroundWork> work_;  // nothing: there is no history
};

}  // namespace lookout
