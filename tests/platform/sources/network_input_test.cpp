#include "platform/sources/network_input.h"

extern "C" {
#include <libavutil/dict.h>
#include <libavutil/error.h>
}

#include <atomic>
#include <cerrno>
#include <string>

#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using testing::StrEq;

class NetworkInputTest : public testing::Test {
 protected:
  std::string sentence(const std::string& url, int status) const {
    return NetworkInput(video(url)).error(status).what();
  }
  NetworkVideo video(const std::string& url) const {
    NetworkVideo video;
    video.url = url;
    video.shown = "a camera";
    video.timeout = std::chrono::milliseconds(2500);
    video.stop = &stop_;
    return video;
  }

  std::atomic<bool> stop_ = false;
};

TEST_F(NetworkInputTest, ALimitOfOursAndOneOfTheSystemAreTheSameSilence) {
  for (const int status : {AVERROR_EXIT, AVERROR(ETIMEDOUT)}) {
    EXPECT_EQ(sentence("rtsp://127.0.0.1/a", status), "a camera: nothing came for 2.5 s");
  }
}

TEST_F(NetworkInputTest, OnlyASecureConnectionHasACertificate) {
  for (const char* scheme : {"http", "rtsp"}) {
    EXPECT_EQ(sentence(scheme + std::string("://127.0.0.1/a"), AVERROR(EIO)),
              "a camera: the connection was closed");
  }
  EXPECT_THAT(sentence("https://127.0.0.1/a", AVERROR(EIO)), testing::HasSubstr("certificate"));
}

TEST_F(NetworkInputTest, AfterAStopNothingElseIsTold) {
  stop_ = true;
  EXPECT_EQ(sentence("rtsp://127.0.0.1/a", AVERROR_EXIT), "a camera: stopped");
}

TEST_F(NetworkInputTest, AnRtspCameraIsAskedForItsVideoByTcpUnlessByUdp) {
  for (const bool udp : {false, true}) {
    NetworkVideo asked = video("rtsp://127.0.0.1/a");
    asked.udp = udp;
    AVDictionary* options = nullptr;
    NetworkInput(asked).set_rtsp(&options);
    const auto option = [&options](const char* name) {
      const AVDictionaryEntry* found = av_dict_get(options, name, nullptr, 0);
      return found == nullptr ? "" : found->value;
    };
    EXPECT_THAT(option("rtsp_transport"), StrEq(udp ? "udp" : "tcp"));
    EXPECT_THAT(option("allowed_media_types"), StrEq("video"));
    EXPECT_THAT(option("user_agent"), StrEq("lookout/" LOOKOUT_VERSION));
    av_dict_free(&options);
  }
}

}  // namespace
}  // namespace lookout
