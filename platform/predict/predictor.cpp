#include "platform/predict/predictor.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/thread.h"
#include "platform/pictures/decode_picture.h"
#include "platform/pictures/picture_size.h"

namespace lookout {
namespace {

constexpr int kNice = 10;

// A file in memory, for what reads files.
class PictureFile {
 public:
  explicit PictureFile(std::string_view bytes) : fd_(memfd_create("picture", MFD_CLOEXEC)) {
    for (std::size_t written = 0; written < bytes.size();) {
      const auto count =
          fd_ < 0 ? -1 : ::write(fd_, bytes.data() + written, bytes.size() - written);
      if (count <= 0) throw Error(ErrorKind::kInternal, "there is no memory for the picture");
      written += static_cast<std::size_t>(count);
    }
  }
  ~PictureFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  PictureFile(const PictureFile&) = delete;
  PictureFile& operator=(const PictureFile&) = delete;

  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }

 private:
  int fd_;
};

bool begins_with(std::string_view bytes, std::string_view signature) {
  return bytes.substr(0, signature.size()) == signature;
}

bool is_supported(std::string_view bytes) {
  return begins_with(bytes, "\xff\xd8\xff") || begins_with(bytes, "\x89PNG\r\n\x1a\n");
}

bool is_abandoned(const Predictor::Request& request) { return request.gone && *request.gone; }

PredictFailure not_decoded(const std::string& name, const std::string& reason) {
  return {422, "damaged_picture", name + " " + reason};
}

// Why the picture cannot be classified; its code is empty when it was decoded.
PredictFailure decode(const UploadedPicture& picture, const PredictLimits& limits, cv::Mat& bgr) {
  const std::string name = picture.name.empty() ? "the picture" : picture.name;
  if (picture.bytes.empty()) return {400, "empty_file", name + " is empty"};
  if (!is_supported(picture.bytes)) {
    return {415, "not_a_picture", name + " is neither JPEG nor PNG"};
  }
  const PictureFile file(picture.bytes);
  const auto size = picture_size(file.path());
  if (!size || size->width <= 0 || size->height <= 0) {
    return not_decoded(name, "has a damaged header");
  }
  if (size->width > limits.side || size->height > limits.side ||
      size->width > limits.pixels / size->height) {
    return {413, "too_many_pixels",
            fmt::format(
                "{} has {}x{} pixels; at most {:.10g} megapixels are allowed, and {} a side", name,
                size->width, size->height, static_cast<double>(limits.pixels) / 1e6, limits.side)};
  }
  const std::string problem = decode_picture("", file.path(), limits.pixels, bgr);
  return problem.empty() ? PredictFailure{0, "", {}} : not_decoded(name, problem);
}

}  // namespace

Predictor::Predictor(PictureQueue& pictures, const PredictLimits& limits)
    : pictures_(pictures), limits_(limits) {
  try {
    for (std::size_t i = 0; i < limits.threads; ++i) {
      threads_.push_back(start_thread("predict", [this] { run(); }));
    }
  } catch (...) {
    stop();
    throw;
  }
}

Predictor::~Predictor() { stop(); }

void Predictor::stop() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  pictures_.close();
  for (std::thread& thread : threads_) thread.join();
}

void Predictor::set_wake(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

bool Predictor::put(Request request) {
  {
    const MutexLock lock(mutex_);
    drop_abandoned();
    if (queue_.size() >= limits_.queue) return false;
    queue_.push_back(std::move(request));
  }
  changed_.notify_one();
  return true;
}

void Predictor::drop_abandoned() {
  queue_.erase(std::remove_if(queue_.begin(), queue_.end(), is_abandoned), queue_.end());
}

void Predictor::deliver() {
  std::vector<Finished> finished;
  {
    const MutexLock lock(mutex_);
    finished.swap(finished_);
  }
  for (const Finished& request : finished) request.done(request.pictures);
}

std::size_t Predictor::waiting() {
  const MutexLock lock(mutex_);
  drop_abandoned();
  return queue_.size() + in_work_;
}

std::chrono::seconds Predictor::retry_after() const {
  const MutexLock lock(mutex_);
  const auto time =
      request_time_ * static_cast<Clock::duration::rep>(queue_.size() / limits_.threads);
  return std::max(std::chrono::seconds(1), std::chrono::ceil<std::chrono::seconds>(time));
}

std::optional<Predictor::Request> Predictor::take() {
  const MutexLock lock(mutex_);
  drop_abandoned();
  while (queue_.empty() && !stop_) changed_.wait(mutex_);
  if (stop_) return std::nullopt;
  ++in_work_;
  Request request = std::move(queue_.front());
  queue_.pop_front();
  return request;
}

bool Predictor::is_over(const Request& request) const {
  const MutexLock lock(mutex_);
  return stop_ || is_abandoned(request);
}

void Predictor::run() {
  // Of this thread alone: Linux gives each its own.
  if (limits_.in_background) {
    static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice));
  }
  while (auto request = take()) {
    const auto start = Clock::now();
    std::vector<PredictedPicture> pictures;
    for (const UploadedPicture& picture : request->pictures) {
      if (is_over(*request)) break;
      pictures.push_back(predict(picture));
    }
    const MutexLock lock(mutex_);
    --in_work_;
    if (pictures.size() < request->pictures.size()) continue;  // nobody waits for the others
    request_time_ = Clock::now() - start;
    finished_.push_back({std::move(request->done), std::move(pictures)});
    if (wake_) wake_();
  }
}

PredictedPicture Predictor::predict(const UploadedPicture& picture) {
  PredictedPicture predicted;
  predicted.name = picture.name;
  try {
    cv::Mat bgr;
    const auto start = Clock::now();
    predicted.failure = decode(picture, limits_, bgr);
    predicted.decoding = Clock::now() - start;
    if (predicted.failure.status == 0) predicted.result = pictures_.classify(bgr);
    if (predicted.failure.status == 0 && !predicted.result) {
      predicted.failure = {503, "stopping", "the run has ended"};
    }
  } catch (const std::exception& error) {
    predicted.failure = {500, "internal", error.what()};
  }
  return predicted;
}

}  // namespace lookout
