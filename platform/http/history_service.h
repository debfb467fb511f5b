// The history of a run for programs: what GET answers below /api/1/.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "platform/history/history_readers.h"
#include "platform/http/http_message.h"

namespace lookout {

// Reads the database anew for each request, so that it may be replaced meanwhile. Used by the
// server's thread alone.
class HistoryService {
 public:
  static constexpr std::size_t kMaxRows = 10'000;  // of an answer
  static constexpr std::size_t kRows = 200;        // without `limit`

  // `folder`: of the history; empty: there is none. `readers`: hear of each answer; null: nobody.
  explicit HistoryService(std::filesystem::path folder,
                          std::shared_ptr<HistoryReaders> readers = nullptr)
      : folder_(std::move(folder)), readers_(std::move(readers)) {}

  // The route of a path, of a few names: "/api/1/events". Null: it is not of this service.
  const char* route(std::string_view path) const;

  // Of a path with a route.
  HttpResponse answer(const HttpRequest& request) const;

 private:
  const std::filesystem::path folder_;
  const std::shared_ptr<HistoryReaders> readers_;
};

}  // namespace lookout
