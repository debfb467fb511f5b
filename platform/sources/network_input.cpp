#include "platform/sources/network_input.h"

extern "C" {
#include <libavformat/avformat.h>
#include <libavutil/dict.h>
#include <libavutil/error.h>
}

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "platform/sources/network_url.h"

namespace lookout {
namespace {

constexpr const char* kAgent = "lookout/" LOOKOUT_VERSION;
// No other protocol is followed to, as file: by a redirection.
constexpr const char* kHttpProtocols = "http,https,tcp,tls,httpproxy";
constexpr const char* kRtspProtocols = "rtsp,rtp,tcp,tls,udp";

// The answer of a server as text; null: it is none.
const char* status_text(int status) {
  switch (status) {
    case AVERROR_HTTP_BAD_REQUEST:
      return "bad request (400)";
    case AVERROR_HTTP_UNAUTHORIZED:
      return "wrong user name or password (401)";
    case AVERROR_HTTP_FORBIDDEN:
      return "access is forbidden (403)";
    case AVERROR_HTTP_NOT_FOUND:
      return "there is nothing at this address (404)";
    case AVERROR_HTTP_OTHER_4XX:
      return "the camera refuses (4xx)";
    case AVERROR_HTTP_SERVER_ERROR:
      return "the camera has an error (5xx)";
    case AVERROR_EOF:
      return "the connection was closed";
    default:
      return nullptr;
  }
}

// FFmpeg has one error for all of these.
std::string input_error_text(const std::string& url) {
  const std::string host = host_of(url);
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (problem == 0) ::freeaddrinfo(found);
  if (problem != 0 && host[0] != '[') {
    return fmt::format("the name {} cannot be looked up ({})", host, ::gai_strerror(problem));
  }
  return url.compare(0, 6, "https:") == 0
             ? "no secure connection; its certificate has to be one that this system trusts"
             : "the connection was closed";
}

}  // namespace

NetworkInput::NetworkInput(const NetworkVideo& video)
    : video_(video), is_rtsp_(video.url.compare(0, 4, "rtsp") == 0) {
  expect_data();
}

bool NetworkInput::is_over() const { return *video_.stop || Clock::now() > deadline_; }

AVIOInterruptCB NetworkInput::interrupt() {
  return {[](void* self) { return static_cast<NetworkInput*>(self)->is_over() ? 1 : 0; }, this};
}

AVIOContext* NetworkInput::open_http() {
  AVDictionary* options = nullptr;
  av_dict_set(&options, "protocol_whitelist", kHttpProtocols, 0);
  av_dict_set(&options, "user_agent", kAgent, 0);
  av_dict_set_int(&options, "tls_verify", 1, 0);
  const AVIOInterruptCB callback = interrupt();
  AVIOContext* context = nullptr;
  const int status = avio_open2(&context, video_.url.c_str(), AVIO_FLAG_READ, &callback, &options);
  av_dict_free(&options);
  if (status < 0) throw error(status);
  return context;
}

void NetworkInput::set_rtsp(AVDictionary** options) const {
  av_dict_set(options, "protocol_whitelist", kRtspProtocols, 0);
  av_dict_set(options, "rtsp_transport", video_.udp ? "udp" : "tcp", 0);
  av_dict_set(options, "allowed_media_types", "video", 0);
  av_dict_set(options, "user_agent", kAgent, 0);
  av_dict_set(options, "fflags", "nobuffer", 0);
}

Error NetworkInput::error(int status) const {
  if (*video_.stop) return {ErrorKind::kNoInput, video_.shown + ": stopped"};
  if (status == AVERROR_EXIT || status == AVERROR(ETIMEDOUT)) {
    const double seconds = std::chrono::duration<double>(video_.timeout).count();
    return {ErrorKind::kNoInput,
            fmt::format("{}: nothing came for {:.4g} s", video_.shown, seconds)};
  }
  const bool is_refusal = status == AVERROR_HTTP_UNAUTHORIZED || status == AVERROR_HTTP_FORBIDDEN;
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(status, text.data(), text.size());
  const char* known = status_text(status);
  const std::string reason = status == AVERROR(EIO) ? input_error_text(video_.url)
                             : known == nullptr     ? text.data()
                                                    : known;
  return {is_refusal ? ErrorKind::kPermission : ErrorKind::kNoInput,
          fmt::format("{}: {}", video_.shown, reason)};
}

}  // namespace lookout
