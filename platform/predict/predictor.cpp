#include "platform/predict/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/thread.h"
#include "pipeline/run/scheduling.h"
#include "platform/pictures/picture_format.h"

namespace lookout {
namespace {

bool is_abandoned(const Predictor::Request& request) { return request.gone && *request.gone; }

// Why bytes are not taken as a picture; its code is empty when they are.
PredictFailure check_format(const std::string& name, std::string_view bytes) {
  if (bytes.empty()) return {400, "empty_file", name + " is empty"};
  const PictureFormat format = picture_format(bytes);
  const bool is_taken = format == PictureFormat::kJpeg || format == PictureFormat::kPng ||
                        format == PictureFormat::kWebp;
  if (is_taken) return {0, "", {}};
  const std::string_view kind = format_name(bytes);
  if (kind.empty()) return {415, "not_a_picture", name + " is neither JPEG nor PNG nor WebP"};
  const char* way_out =
      kind == kHeic ? " (iPhone: Settings > Camera > Formats > Most Compatible)" : "";
  return {
      415, "not_a_picture",
      fmt::format("{} is {}, which is not read: send JPEG, PNG or WebP{}", name, kind, way_out)};
}

// Why the picture cannot be classified; its code is empty when it was decoded.
PredictFailure failure_of(const std::string& name, const DecodedPicture& picture) {
  const std::string message = name + " " + picture.message;
  switch (picture.problem) {
    case DecodeProblem::kNone:
      return {0, "", {}};
    case DecodeProblem::kUnsupported:
      return {415, "not_a_picture", message};
    case DecodeProblem::kTooManyPixels:
      return {413, "too_many_pixels", message};
    case DecodeProblem::kCancelled:
      return {503, "stopping", message};
    default:
      return {422, "damaged_picture", message};
  }
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
    if (!make_room(request.address)) return false;
    queue_.push_back(std::move(request));
  }
  changed_.notify_one();
  return true;
}

bool Predictor::make_room(const std::string& address) {
  if (queue_.size() < limits_.queue) return true;
  std::map<std::string, std::size_t> places;
  for (const Request& request : queue_) ++places[request.address];
  const auto most =
      std::max_element(places.begin(), places.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == places.end() || most->second <= places[address] + 1) return false;
  const auto newest = std::find_if(queue_.rbegin(), queue_.rend(), [&most](const Request& request) {
    return request.address == most->first;
  });
  std::vector<PredictedPicture> refused;
  for (const UploadedPicture& picture : newest->pictures) {
    refused.push_back({picture.name, {}, {}, {503, "busy", "pictures of other clients wait, too"}});
  }
  finished_.push_back({std::move(newest->done), std::move(refused)});
  queue_.erase(std::next(newest).base());
  if (wake_) wake_();
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
  const std::string last = last_address_;
  auto next = std::find_if(queue_.begin(), queue_.end(),
                           [&last](const Request& request) { return request.address != last; });
  if (next == queue_.end()) next = queue_.begin();
  Request request = std::move(*next);
  queue_.erase(next);
  last_address_ = request.address;
  return request;
}

bool Predictor::is_over(const Request& request) const {
  const MutexLock lock(mutex_);
  return stop_ || is_abandoned(request);
}

void Predictor::run() {
  if (limits_.in_background) lower_this_thread_priority();
  DecoderOptions options = limits_.decoder;
  options.max_pixels = limits_.pixels;
  DecoderProcess decoder(std::move(options), decoders_);
  while (auto request = take()) {
    const auto start = Clock::now();
    std::vector<PredictedPicture> pictures;
    for (const UploadedPicture& picture : request->pictures) {
      if (is_over(*request)) break;
      pictures.push_back(predict(*request, picture, decoder));
    }
    const MutexLock lock(mutex_);
    --in_work_;
    if (pictures.size() < request->pictures.size()) continue;  // nobody waits for the others
    request_time_ = Clock::now() - start;
    finished_.push_back({std::move(request->done), std::move(pictures)});
    if (wake_) wake_();
  }
}

PredictedPicture Predictor::predict(const Request& request, const UploadedPicture& picture,
                                    DecoderProcess& decoder) {
  const std::string name = picture.name.empty() ? "the picture" : picture.name;
  PredictedPicture predicted;
  predicted.name = picture.name;
  try {
    predicted.failure = check_format(name, picture.bytes);
    if (predicted.failure.status != 0) return predicted;
    DecodeLimits limits;
    limits.pixels = limits_.pixels;
    limits.side = limits_.side;
    limits.reduce = true;
    limits.key = "http.max-pixels";
    limits.cancelled = [this, &request] { return is_over(request); };
    const auto start = Clock::now();
    const DecodedPicture decoded = decoder.decode(picture.bytes, limits);
    predicted.decoding = Clock::now() - start;
    predicted.failure = failure_of(name, decoded);
    if (predicted.failure.status != 0) return predicted;
    predicted.result = pictures_.classify(decoded.bgr, request.watch);
    if (!predicted.result) predicted.failure = {503, "stopping", "the run has ended"};
  } catch (const NoSuchWatch& error) {
    predicted.failure = {404, "no_such_watch", error.what()};
  } catch (const std::exception& error) {
    predicted.failure = {500, "internal", error.what()};
  }
  return predicted;
}

}  // namespace lookout
