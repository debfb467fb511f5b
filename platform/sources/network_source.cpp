#include "platform/sources/network_source.h"

#include "pipeline/core/error.h"
#include "platform/sources/network_url.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

// The length of each wait for the reader of a file: a stop is seen within this time, and the
// process that decodes may want another connection.
constexpr std::chrono::milliseconds kConnectWait{20};
// For the process that decodes to start, and to say why it failed after its own limit.
constexpr std::chrono::seconds kGrace{10};

StreamProcessOptions complete(NetworkOptions options, const std::atomic<bool>& stop) {
  if (!options.credentials.empty()) {
    options.url = with_credentials(options.url, read_secret("credentials", options.credentials));
  }
  options.shown = shown_url(options.url);
  options.stop = &stop;
  return options;
}

}  // namespace

NetworkSource::NetworkSource(const NetworkOptions& options) : options_(complete(options, stop_)) {
  info_.name = host_of(options.url);
  info_.description = options_.shown + ", which is not connected yet";
  info_.live = true;
  start("network", [this] {
    try {
      read_all();
    } catch (...) {
      opened_.close();
      throw;
    }
    opened_.close();
  });
}

void NetworkSource::wait_until_connected() {
  if (connected_) return;
  const TakeStatus status = opened_.take(info_, options_.timeout + kGrace);
  connected_ = status == TakeStatus::kTaken;
  if (status == TakeStatus::kClosed) finish();
  if (!connected_)
    throw Error(ErrorKind::kNoInput, options_.shown + ": the name of the host is not found");
}

ReadStatus NetworkSource::read(Frame& frame, std::chrono::milliseconds timeout) {
  if (!connected_) {
    const TakeStatus status = opened_.take(info_, timeout);
    connected_ = status == TakeStatus::kTaken;
    return status == TakeStatus::kClosed ? finish() : ReadStatus::kTimeout;
  }
  return ThreadedSource::read(frame, timeout);
}

void NetworkSource::read_all() {
  StreamProcess source(options_);
  SourceInfo opened = source.info();
  opened.name = info_.name;
  opened_.put_newest(opened);
  if (source.info().live) {
    read_live(source);
  } else {
    read_file(source);
  }
}

void NetworkSource::read_live(StreamProcess& source) {
  Frame frame;
  try {
    while (!stop_ && source.read(frame, kConnectWait) == ReadStatus::kFrame)
      frames_.put_newest(frame);
  } catch (const Error& error) {
    throw Error(ErrorKind::kDeviceLost, error.what());
  }
  if (!stop_) throw Error(ErrorKind::kDeviceLost, options_.shown + ": the stream ended");
}

void NetworkSource::read_file(StreamProcess& source) {
  Frame frame;
  while (!stop_ && source.read(frame, kConnectWait) == ReadStatus::kFrame) {
    while (!frames_.put_next(frame, kConnectWait) && !stop_) source.serve();
  }
}

}  // namespace lookout
