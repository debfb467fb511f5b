// How much memory the bodies of requests may take.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "pipeline/core/mutex.h"

namespace lookout {

// Counts the bytes of bodies in memory, of all clients together and of each address. Any thread.
class UploadBudget {
 public:
  UploadBudget(std::size_t total, std::size_t per_address)
      : total_(total), per_address_(per_address) {}

  // Returns false, and counts nothing, when that would be more than allowed. An address that is
  // empty, of a Unix socket, has no limit of its own.
  bool take(const std::string& address, std::size_t bytes) EXCLUDES(mutex_);
  void give_back(const std::string& address, std::size_t bytes) EXCLUDES(mutex_);

 private:
  const std::size_t total_;
  const std::size_t per_address_;
  Mutex mutex_;
  std::size_t taken_ GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::size_t> of_address_ GUARDED_BY(mutex_);  // none is 0
};

// The bytes of one body, which are given back at its end. Any one thread at a time.
class UploadShare {
 public:
  UploadShare(std::shared_ptr<UploadBudget> budget, std::string address)
      : budget_(std::move(budget)), address_(std::move(address)) {}
  ~UploadShare();
  UploadShare(const UploadShare&) = delete;
  UploadShare& operator=(const UploadShare&) = delete;

  // The body has `bytes` now, no fewer than before. Returns false when there is no room for them.
  bool grow_to(std::size_t bytes);

 private:
  const std::shared_ptr<UploadBudget> budget_;
  const std::string address_;
  std::size_t bytes_ = 0;
};

}  // namespace lookout
