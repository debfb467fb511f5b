#include "platform/http/upload_budget.h"

namespace lookout {

bool UploadBudget::take(const std::string& address, std::size_t bytes) {
  const MutexLock lock(mutex_);
  if (bytes > total_ - taken_) return false;
  if (!address.empty() && bytes > 0) {
    const auto found = of_address_.find(address);
    const std::size_t taken = found == of_address_.end() ? 0 : found->second;
    if (bytes > per_address_ - taken) return false;
    of_address_[address] = taken + bytes;
  }
  taken_ += bytes;
  return true;
}

void UploadBudget::give_back(const std::string& address, std::size_t bytes) {
  const MutexLock lock(mutex_);
  taken_ -= bytes;
  const auto found = of_address_.find(address);
  if (found == of_address_.end()) return;
  found->second -= bytes;
  if (found->second == 0) of_address_.erase(found);
}

UploadShare::~UploadShare() { budget_->give_back(address_, bytes_); }

bool UploadShare::grow_to(std::size_t bytes) {
  if (!budget_->take(address_, bytes - bytes_)) return false;
  bytes_ = bytes;
  return true;
}

}  // namespace lookout
