// The module liblookout-webhook.so: the only file that includes libcurl.
#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include "platform/webhook/webhook_transport.h"

namespace lookout {
namespace {

constexpr long kConnectTimeout = 10'000;        // ms
constexpr std::size_t kMaxResponse = 64 << 10;  // bytes that are read, so that a server may end
constexpr int kFirstFinalStatus = 200;          // before: 100 Continue, and others that follow
constexpr const char* kWebhookAgent = "lookout/" LOOKOUT_VERSION;

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeMime {
  void operator()(curl_mime* mime) const { curl_mime_free(mime); }
};
using List = std::unique_ptr<curl_slist, FreeList>;

void append_line(List& list, const std::string& line) {
  curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) throw std::runtime_error("no memory");
  static_cast<void>(list.release());
  list.reset(longer);
}

// One request. What it refers to lives as long.
class CurlRequest {
 public:
  CurlRequest(WebhookRequest request, const WebhookConnection& connection)
      : request_(std::move(request)), easy_(curl_easy_init()) {
    if (!easy_) throw std::runtime_error("no memory");
    limit(connection);
    fill();
  }
  CurlRequest(const CurlRequest&) = delete;
  CurlRequest& operator=(const CurlRequest&) = delete;

  CURL* easy() const { return easy_.get(); }

  WebhookOutcome outcome(CURLcode code) const {
    WebhookOutcome outcome;
    long status = 0;
    curl_easy_getinfo(easy(), CURLINFO_RESPONSE_CODE, &status);
    // What comes behind the status is of no interest, nor how it ends.
    if (status >= kFirstFinalStatus) {
      outcome.status = static_cast<int>(status);
      curl_off_t seconds = 0;
      curl_easy_getinfo(easy(), CURLINFO_RETRY_AFTER, &seconds);
      if (seconds > 0) outcome.retry_after = std::chrono::seconds(seconds);
      return outcome;
    }
    outcome.problem = curl_easy_strerror(code);
    if (code == CURLE_OK) outcome.problem = "the answer is none of HTTP";
    // Of other errors it has times, which make each a new one.
    const bool is_tls = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CONNECT_ERROR ||
                        code == CURLE_SSL_CACERT_BADFILE;
    if (is_tls && error_.front() != '\0') outcome.problem = error_.data();
    return outcome;
  }

 private:
  template <typename T>
  void set(CURLoption option, T value) {
    curl_easy_setopt(easy(), option, value);
  }

  // What a request may do, and for how long.
  void limit(const WebhookConnection& connection) {
    set(CURLOPT_ERRORBUFFER, error_.data());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_QUICK_EXIT, 1L);  // a name that is being resolved is not waited for
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_PROXY, "");  // the environment names none
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_FORBID_REUSE, 1L);
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    if (!connection.ca.empty()) {
      set(CURLOPT_CAINFO, connection.ca.c_str());
      set<const char*>(CURLOPT_CAPATH, nullptr);  // else the system's count, too
    }
    const auto timeout = static_cast<long>(connection.timeout.count());
    set(CURLOPT_CONNECTTIMEOUT_MS, std::min(kConnectTimeout, timeout));
    set(CURLOPT_TIMEOUT_MS, timeout);
    set(CURLOPT_USERAGENT, kWebhookAgent);
    set<std::size_t (*)(char*, std::size_t, std::size_t, void*)>(
        CURLOPT_WRITEFUNCTION,
        [](char*, std::size_t, std::size_t count, void* self) -> std::size_t {
          auto& received = static_cast<CurlRequest*>(self)->received_;
          received += count;
          return received > kMaxResponse ? 0 : count;
        });
    set<void*>(CURLOPT_WRITEDATA, this);
  }

  void fill() {
    set(CURLOPT_URL, request_.url.c_str());
    for (const std::string& header : request_.headers) append_line(headers_, header);
    append_line(headers_, "Expect:");  // the body is sent at once
    set(CURLOPT_HTTPHEADER, headers_.get());
    if (request_.method == "GET") return;
    if (request_.form.empty() && request_.picture_field.empty()) {
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
      set(CURLOPT_POSTFIELDS, request_.body.data());
    } else {
      fill_form();
    }
    set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }

  void fill_form() {
    mime_.reset(curl_mime_init(easy()));
    for (const auto& [name, value] : request_.form) {
      curl_mimepart* const part = curl_mime_addpart(mime_.get());
      curl_mime_name(part, name.c_str());
      curl_mime_data(part, value.data(), value.size());
    }
    if (!request_.picture_field.empty()) {
      curl_mimepart* const part = curl_mime_addpart(mime_.get());
      curl_mime_name(part, request_.picture_field.c_str());
      curl_mime_filename(part, "picture.jpg");
      curl_mime_type(part, "image/jpeg");
      curl_mime_data(part, request_.picture.data(), request_.picture.size());
    }
    set(CURLOPT_MIMEPOST, mime_.get());
  }

  const WebhookRequest request_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::size_t received_ = 0;
  List headers_;
  std::unique_ptr<CURL, FreeEasy> easy_;
  std::unique_ptr<curl_mime, FreeMime> mime_;  // is freed before the handle
};

class CurlTransport : public WebhookTransport {
 public:
  explicit CurlTransport(WebhookConnection connection)
      : connection_(std::move(connection)), multi_(curl_multi_init()) {
    if (!multi_) throw std::runtime_error("no memory");
  }
  ~CurlTransport() override { end(); }
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;

  void begin(WebhookRequest request) override {
    request_ = std::make_unique<CurlRequest>(std::move(request), connection_);
    curl_multi_add_handle(multi_.get(), request_->easy());
  }

  std::optional<WebhookOutcome> advance() override {
    if (!request_) return std::nullopt;
    int running = 0;
    const CURLMcode code = curl_multi_perform(multi_.get(), &running);
    if (code != CURLM_OK) return end_with({0, curl_multi_strerror(code), std::nullopt});
    int others = 0;
    const CURLMsg* const message = curl_multi_info_read(multi_.get(), &others);
    if (message == nullptr || message->msg != CURLMSG_DONE) return std::nullopt;
    return end_with(request_->outcome(message->data.result));
  }

  void wait(std::chrono::milliseconds timeout) override {
    constexpr std::chrono::milliseconds kLongest = std::chrono::hours(1);
    const auto bounded = std::clamp(timeout, std::chrono::milliseconds(0), kLongest);
    curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(bounded.count()), nullptr);
  }

  void wake() override { curl_multi_wakeup(multi_.get()); }

 private:
  void end() {
    if (request_) curl_multi_remove_handle(multi_.get(), request_->easy());
    request_.reset();
  }
  WebhookOutcome end_with(WebhookOutcome outcome) {
    end();
    return outcome;
  }

  const WebhookConnection connection_;
  std::unique_ptr<CURLM, FreeMulti> multi_;
  std::unique_ptr<CurlRequest> request_;
};

std::unique_ptr<WebhookTransport> open_curl(const WebhookConnection& connection) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialised != CURLE_OK) throw std::runtime_error(curl_easy_strerror(initialised));
  return std::make_unique<CurlTransport>(connection);
}

}  // namespace
}  // namespace lookout

extern "C" const lookout::WebhookModule* lookout_webhook() {
  static const lookout::WebhookModule module{{lookout::kWebhookInterface, LOOKOUT_VERSION},
                                             lookout::open_curl};
  return &module;
}
