#include "platform/http/live_view.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "pipeline/results/format.h"
#include "platform/pictures/encode_picture.h"
#include "platform/pictures/motion_jpeg.h"
#include "platform/system/wall_moment.h"

namespace lookout {
namespace {

constexpr const char* kBoundary = "lookout-picture";
const cv::Size kAwaySize(640, 480);

std::string timestamp_of(std::chrono::system_clock::time_point time) {
  std::string text;
  append_seconds(time, text);
  return text;
}

cv::Mat away_picture(std::chrono::system_clock::time_point since) {
  cv::Mat picture(kAwaySize, CV_8UC3, cv::Scalar(48, 40, 40));
  const cv::Scalar white(230, 230, 230);
  const std::time_t time = std::chrono::system_clock::to_time_t(since);
  const std::string second_line = fmt::format("since {:%Y-%m-%d %H:%M:%S}", fmt::localtime(time));
  cv::putText(picture, "The camera is away", {90, 230}, cv::FONT_HERSHEY_SIMPLEX, 1.4, white, 2,
              cv::LINE_AA);
  cv::putText(picture, second_line, {130, 290}, cv::FONT_HERSHEY_SIMPLEX, 0.9, white, 1,
              cv::LINE_AA);
  return picture;
}

}  // namespace

class LiveView::Viewer : public HttpStream {
 public:
  Viewer(LiveView& view, double max_fps, bool advance_headers)
      : view_(view),
        interval_(max_fps > 0 ? std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(1 / max_fps))
                              : Clock::duration::zero()),
        advance_headers_(advance_headers),
        sent_(view.current_.away ? 0 : view.current_.number),
        sent_at_(view.now_) {
    view_.viewers_.insert(this);
  }
  ~Viewer() override { view_.viewers_.erase(this); }
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  void on_ready(std::function<void()> ready) override { ready_ = std::move(ready); }

  bool next(HttpPart& part) override {
    const Encoded& current = view_.current_;
    if (!current.jpeg || !is_due(current)) return false;
    ++view_.sent_;
    const bool all = interval_ == Clock::duration::zero();
    if (all && sent_ != 0 && current.number > sent_) view_.skipped_ += current.number - sent_ - 1;
    sent_ = current.number;
    sent_at_ = view_.now_;
    part.body = current.jpeg;
    part.head = advance_headers_ && !first_ ? std::string() : head(current);
    part.tail = advance_headers_ ? "\r\n" + head(current) : "\r\n";
    first_ = false;
    return true;
  }

  void notify() const {
    if (ready_) ready_();
  }

 private:
  bool is_due(const Encoded& current) const {
    const Clock::duration since = view_.now_ - sent_at_;
    if (current.number == sent_) return since >= kRepeat;
    // Pictures come at beats: half of one early is better than one late.
    return sent_ == 0 || since + kInterval / 2 >= interval_;
  }

  std::string head(const Encoded& current) const {
    std::string text = fmt::format("--{}\r\nContent-Type: image/jpeg\r\n", kBoundary);
    if (!advance_headers_) {
      text += fmt::format("Content-Length: {}\r\nX-Timestamp: {}\r\n", current.jpeg->size(),
                          timestamp_of(current.time));
    }
    return text + "\r\n";
  }

  LiveView& view_;
  const Clock::duration interval_;
  const bool advance_headers_;
  bool first_ = true;
  std::uint64_t sent_;  // the number of the last picture; 0: none
  Clock::time_point sent_at_;
  std::function<void()> ready_;
};

LiveView::LiveView(LiveSlots& slots, const LiveViewOptions& options)
    : slots_(slots),
      options_(options),
      forwards_jpegs_(options.view.rotation == 0 && !options.view.hflip && !options.view.vflip) {}

LiveView::~LiveView() = default;

std::string LiveView::stream_type() {
  return fmt::format("multipart/x-mixed-replace; boundary={}", kBoundary);
}

std::unique_ptr<HttpStream> LiveView::open(double max_fps, bool advance_headers,
                                           Clock::time_point now) {
  if (viewers_.size() >= options_.max_viewers) return nullptr;
  advance(now);
  auto viewer = std::make_unique<Viewer>(*this, max_fps, advance_headers);
  want_picture(now);
  return viewer;
}

void LiveView::snapshot(const HttpRespond& respond, Clock::time_point now) {
  advance(now);
  take_status();
  if (current_.away || (current_.jpeg && now - current_.made < kInterval)) {
    answer(respond);
    return;
  }
  snapshots_.push_back({respond, now + kSnapshotWait});
  want_picture(now);
}

void LiveView::want_picture(Clock::time_point now) {
  slots_.want_jpegs(forwards_jpegs_);
  if (now - wanted_at_ < kInterval * 9 / 10) return;  // beats may come a little early
  wanted_at_ = now;
  slots_.want_picture();
}

void LiveView::advance(Clock::time_point now) {
  now_ = now;
  take_picture();
  if (!is_busy()) return;
  take_status();
  answer_snapshots(false);
  want_picture(now);
  for (const Viewer* viewer : viewers_) viewer->notify();
}

void LiveView::take_picture() {
  auto picture = slots_.take_picture();
  if (!picture || !is_busy()) return;
  if (picture->jpeg.empty()) {
    ++encoded_;
    picture->jpeg = encode_jpeg(turned(picture->bgr, options_.view), options_.quality);
  } else {
    auto complete = complete_jpeg(std::move(picture->jpeg));
    // After a JPEG that is like no other, pictures are encoded.
    forwards_jpegs_ = complete.has_value();
    if (!complete) return;
    ++passed_;
    picture->jpeg = std::move(*complete);
  }
  Encoded encoded;
  encoded.sequence = picture->sequence;
  encoded.time = picture->time;
  set(std::move(picture->jpeg), std::move(encoded));
}

void LiveView::take_status() {
  const CameraStatus status = slots_.status();
  // Of a clock that was set, the time differs by nanoseconds from call to call.
  const bool is_drawn =
      current_.away && std::chrono::abs(current_.time - status.since) < WallMoment::kSetBy;
  if (status.online || is_drawn) return;
  Encoded encoded;
  encoded.time = status.since;
  encoded.away = true;
  ++encoded_;
  set(encode_jpeg(away_picture(status.since), options_.quality), std::move(encoded));
}

void LiveView::set(std::string jpeg, Encoded encoded) {
  encoded.jpeg = std::make_shared<const std::string>(std::move(jpeg));
  encoded.number = current_.number + 1;
  encoded.made = now_;
  current_ = std::move(encoded);
  answer_snapshots(true);
}

void LiveView::answer(const HttpRespond& respond) const {
  if (!current_.jpeg) {
    respond(http_error(503, "no_picture", "the camera has sent no picture yet"));
    return;
  }
  HttpResponse response;
  response.status = current_.away ? 503 : 200;
  response.type = "image/jpeg";
  response.body = current_.jpeg;
  response.headers = {{"X-Timestamp", timestamp_of(current_.time)}};
  if (current_.away) {
    response.headers.emplace_back("Retry-After", "2");
  } else {
    response.headers.emplace_back("X-Frame", std::to_string(current_.sequence));
  }
  respond(std::move(response));
}

void LiveView::answer_snapshots(bool fresh) {
  std::vector<Snapshot> waiting;
  waiting.swap(snapshots_);
  for (Snapshot& snapshot : waiting) {
    if (fresh || now_ >= snapshot.deadline) {
      answer(snapshot.respond);
    } else {
      snapshots_.push_back(std::move(snapshot));
    }
  }
}

}  // namespace lookout
