// Classifies pictures that clients send, between the frames of a run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "pipeline/core/mutex.h"
#include "pipeline/core/result.h"
#include "pipeline/run/picture_queue.h"
#include "platform/decoder/decoder_process.h"

namespace lookout {

struct PredictLimits {
  std::int64_t pixels = 25'000'000;  // of a picture; see DecodeLimits::reduce
  std::int64_t side = 16384;         // of a picture, in pixels
  std::size_t queue = 16;            // requests
  // That decode: with more, one picture is decoded while another one is classified.
  std::size_t threads = 1;
  bool in_background = true;  // the threads and their decoders have a low priority
  DecoderOptions decoder;     // its max_pixels are `pixels`
};

struct UploadedPicture {
  std::string name;        // the client's
  std::string_view bytes;  // the file: JPEG, PNG or WebP
};

// Why a picture has no result.
struct PredictFailure {
  int status = 0;    // of HTTP
  const char* code;  // "damaged_picture"
  std::string message;
};

struct PredictedPicture {
  std::string name;
  std::optional<Result> result;  // its frame_age is the time from the end of decoding
  Clock::duration decoding{};
  PredictFailure failure{0, "", {}};  // without a result
};

// Threads "predict" decode one picture after the other and give it to the queue.
class Predictor {
 public:
  // Called with a picture for each one of the request, in order.
  using Done = std::function<void(const std::vector<PredictedPicture>&)>;

  struct Request {
    std::shared_ptr<const std::string> body;  // which the pictures are parts of
    std::vector<UploadedPicture> pictures;
    Done done;
    std::shared_ptr<const std::atomic<bool>> gone{};  // nobody waits any more; null: somebody does
    std::string address{};                            // of the client, see HttpRequest
    std::string watch{};                              // as PictureClassifier::classify()
  };

  // `pictures` outlives this. Throws Error(kPermission) when the system allows no further thread.
  Predictor(PictureQueue& pictures, const PredictLimits& limits);
  // Closes `pictures`. Requests that wait are dropped; one picture that is being classified is
  // waited for, by each thread.
  ~Predictor();
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  // `wake` is called by these threads when deliver() has something to do.
  void set_wake(std::function<void()> wake) EXCLUDES(mutex_);

  // Returns false when as many requests as allowed wait. Addresses share the places: where they
  // are all taken, the newest request of the address that has most is answered with 503 and gives
  // its place to an address that has fewer. Addresses are served in turn. A request that nobody
  // waits for any more is dropped; one that is being decoded is given up.
  bool put(Request request) EXCLUDES(mutex_);
  // Calls what put() was given, for the requests that are done.
  void deliver() EXCLUDES(mutex_);

  // Requests that wait or are in work. Any thread.
  std::size_t waiting() EXCLUDES(mutex_);
  // Any thread.
  const DecoderCounters& decoders() const { return decoders_; }
  // When the queue will have room, by the time that pictures took; at least 1 s.
  std::chrono::seconds retry_after() const EXCLUDES(mutex_);

 private:
  struct Finished {
    Done done;
    std::vector<PredictedPicture> pictures;
  };

  void run();
  void stop() EXCLUDES(mutex_);
  void drop_abandoned() REQUIRES(mutex_);
  bool make_room(const std::string& address) REQUIRES(mutex_);
  bool is_over(const Request& request) const EXCLUDES(mutex_);
  std::optional<Request> take() EXCLUDES(mutex_);
  PredictedPicture predict(const Request& request, const UploadedPicture& picture,
                           DecoderProcess& decoder);

  PictureQueue& pictures_;
  const PredictLimits limits_;
  DecoderCounters decoders_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::function<void()> wake_ GUARDED_BY(mutex_);
  std::deque<Request> queue_ GUARDED_BY(mutex_);
  std::string last_address_ GUARDED_BY(mutex_);  // of the last request that was taken
  std::vector<Finished> finished_ GUARDED_BY(mutex_);
  std::size_t in_work_ GUARDED_BY(mutex_) = 0;
  bool stop_ GUARDED_BY(mutex_) = false;
  Clock::duration request_time_ GUARDED_BY(mutex_){};  // of the last one
  std::vector<std::thread> threads_;
};

}  // namespace lookout
