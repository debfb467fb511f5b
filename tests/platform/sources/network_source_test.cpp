// Videos that a web server on this machine sends.
#include "platform/sources/network_source.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "pipeline/core/module.h"
#include "pipeline/core/thread.h"
#include "platform/sources/open_source.h"
#include "tests/support/loopback_listener.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/video_file.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kServedFrames = 20;
constexpr int kServedFirstLevel = 20;  // of the luma
constexpr int kServedStep = 10;        // from frame to frame
constexpr int kPollMs = 10;

enum class Then { kClose, kSilence };

// Answers each request with the same bytes, then closes the connection, or keeps it and sends
// nothing.
class WebServer {
 public:
  explicit WebServer(std::string answer, Then then = Then::kClose)
      : answer_(std::move(answer)), then_(then) {
    ::setenv("no_proxy", "*", 1);
    thread_ = start_thread("server", [this] { run(); });
  }
  ~WebServer() {
    stop_ = true;
    thread_.join();
  }
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  std::string url(const std::string& user = "") const {
    return "http://" + user + "127.0.0.1:" + std::to_string(listener_.port()) +
           "/video?token=secret";
  }
  int requests() const { return requests_; }

 private:
  bool is_ready(int fd) const {
    while (!stop_) {
      pollfd waiting{fd, POLLIN, 0};
      if (::poll(&waiting, 1, kPollMs) > 0) return true;
    }
    return false;
  }

  void run() {
    while (is_ready(listener_.fd())) {
      const int fd = listener_.accept();
      serve(fd);
      ::close(fd);
    }
  }

  void serve(int fd) {
    std::array<char, 4096> request{};
    if (!is_ready(fd) || ::recv(fd, request.data(), request.size(), 0) <= 0) return;
    ++requests_;
    ::send(fd, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    if (then_ == Then::kSilence) is_ready(fd);  // until the client closes
  }

  const std::string answer_;
  const Then then_;
  const LoopbackListener listener_;
  std::atomic<bool> stop_{false};
  std::atomic<int> requests_{0};
  std::thread thread_;  // last: it uses all of the above
};

std::string video(const std::string& container) {
  const TempDir dir;
  const std::string path = dir / "video";
  VideoFormat format;
  format.container = container;
  format.codec = "mjpeg";
  format.pixels = AV_PIX_FMT_YUVJ420P;
  format.size = {64, 48};
  {
    VideoFile file(path, format);
    for (int i = 0; i < kServedFrames; ++i) {
      file.write({static_cast<unsigned char>(kServedFirstLevel + i * kServedStep), 128, 128});
    }
  }
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Without a length it is a camera's.
std::string camera_answer() {
  return "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=ffmpeg\r\n\r\n" +
         video("mpjpeg");
}

std::string file_answer(const std::string& content) {
  return "HTTP/1.1 200 OK\r\nContent-Type: video/x-matroska\r\nContent-Length: " +
         std::to_string(content.size()) + "\r\n\r\n" + content;
}

std::string status_answer(const std::string& status) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n";
}

NetworkOptions options(const std::string& url) {
  NetworkOptions network;
  network.url = url;
  return network;
}

int frame_number(const Frame& frame) {
  const double level = frame.bgr.at<cv::Vec3b>(24, 32)[0];
  return static_cast<int>(std::lround((level - kServedFirstLevel) / kServedStep));
}

// Whether the kernel executes programs of this machine: an emulator's may not.
bool has_a_decoder() {
  const std::string command = module_path("lookout-stream-decoder").string();
  const int status = std::system((command + " < /dev/null > /dev/null 2>&1").c_str());
  return WEXITSTATUS(status) != 126 && WEXITSTATUS(status) != 127;  // of the shell, as POSIX has it
}

class NetworkSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    static const bool has = has_a_decoder();
    if (!has) GTEST_SKIP() << "this kernel does not execute lookout-stream-decoder";
  }
};

TEST_F(NetworkSourceTest, OfACameraTheNewestFrameComes) {
  const WebServer server(camera_answer(), Then::kSilence);
  NetworkSource source(options(server.url()));
  EXPECT_FALSE(source.online());
  source.wait_until_connected();
  EXPECT_TRUE(source.online());
  EXPECT_TRUE(source.info().live);
  EXPECT_EQ(source.info().name, "127.0.0.1");
  EXPECT_THAT(source.info().description, AllOf(HasSubstr("64x48"), Not(HasSubstr("secret"))));
  Frame frame;
  int last = -1;
  while (last < kServedFrames - 1) {
    ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
    EXPECT_GT(frame_number(frame), last);
    last = frame_number(frame);
    EXPECT_EQ(frame.origin, "");
    EXPECT_FALSE(frame.media_time);
  }
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kTimeout) << "and then it is silent";
}

TEST_F(NetworkSourceTest, TheEndOfACamerasStreamIsALoss) {
  const WebServer server(camera_answer());
  NetworkSource source(options(server.url()));
  expect_error(ErrorKind::kDeviceLost, HasSubstr("/video?***: "), [&source] {
    Frame frame;
    while (read_next(source, frame) == ReadStatus::kFrame) {
    }
  });
}

TEST_F(NetworkSourceTest, OfAFileEveryFrameComes) {
  const WebServer server(file_answer(video("matroska")));
  const auto source = open_source(server.url(), {});
  EXPECT_FALSE(source->info().live);
  Frame frame;
  for (int i = 0; i < kServedFrames; ++i) {
    ASSERT_EQ(read_next(*source, frame), ReadStatus::kFrame);
    EXPECT_EQ(frame_number(frame), i);
    EXPECT_TRUE(frame.media_time);
  }
  EXPECT_EQ(read_next(*source, frame), ReadStatus::kEnd);
}

TEST_F(NetworkSourceTest, ARefusalIsToldWithoutThePassword) {
  for (const auto& [status, kind, sentence] :
       {std::tuple("401 No", ErrorKind::kPermission, "wrong user name or password (401)"),
        {"403 No", ErrorKind::kPermission, "access is forbidden (403)"},
        {"404 No", ErrorKind::kNoInput, "there is nothing at this address (404)"},
        {"503 No", ErrorKind::kNoInput, "the camera has an error (5xx)"}}) {
    const WebServer server(status_answer(status));
    expect_error(kind,
                 AllOf(HasSubstr(sentence), HasSubstr("http://***@127"), Not(HasSubstr("secret"))),
                 [&] { open_source(server.url("user:secret@"), {}); });
  }
}

TEST_F(NetworkSourceTest, NothingOfFfmpegsShowsThePassword) {
  const CapturedLog log;
  log.keep_debug();
  const WebServer server(status_answer("404 No"));
  EXPECT_THROW(open_source(server.url("user:secret@"), {}), Error);
  EXPECT_THAT(log.text(), Not(HasSubstr("secret")));
}

TEST_F(NetworkSourceTest, ARedirectionToAFileIsRefused) {
  const TempDir dir;
  const auto path = dir.write("a.mkv", video("matroska"));
  const WebServer server("HTTP/1.1 302 Found\r\nLocation: file://" + path +
                         "\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THROW(open_source(server.url(), {}), Error);
}

TEST_F(NetworkSourceTest, WhatIsNoVideoIsAnError) {
  const WebServer server(file_answer(std::string(50'000, 'x')));
  expect_error(ErrorKind::kNoInput, HasSubstr("/video?*** is no video that can be decoded"),
               [&] { open_source(server.url(), {}); });
}

// Serves the files of a folder, by TLS with a certificate that nobody trusts, to one client.
class TlsServer {
 public:
  explicit TlsServer(const TempDir& dir) {
    const std::string command =
        "cd " + dir.path().string() +
        " && openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -addext "
        "subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem 2> /dev/null && exec openssl "
        "s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem -WWW -naccept 1";
    output_ = ::popen(command.c_str(), "re");
    std::array<char, 200> line{};
    while (place_.empty() && std::fgets(line.data(), line.size(), output_) != nullptr) {
      const std::string said = line.data();
      if (said.rfind("ACCEPT ", 0) == 0) place_ = said.substr(7, said.size() - 8);
    }
  }
  ~TlsServer() { ::pclose(output_); }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  std::string place() const { return place_; }

 private:
  FILE* output_;
  std::string place_;
};

TEST_F(NetworkSourceTest, ACertificateThatNobodyTrustsIsRefused) {
  const TempDir dir;
  const std::string name = std::filesystem::path(dir.write("a.mkv", video("matroska"))).filename();
  const TlsServer server(dir);
  ASSERT_NE(server.place(), "") << "openssl is missing";
  expect_error(ErrorKind::kNoInput,
               HasSubstr("its certificate has to be one that this system trusts"),
               [&] { open_source("https://" + server.place() + "/" + name, {}); });
}

TEST_F(NetworkSourceTest, ANameThatNobodyKnowsIsToldAsThat) {
  for (const char* scheme : {"http", "https", "rtsp"}) {
    expect_error(ErrorKind::kNoInput, HasSubstr("the name camera.invalid cannot be looked up ("),
                 [&] { open_source(scheme + std::string("://camera.invalid/a"), {}); });
  }
}

TEST_F(NetworkSourceTest, APlaylistIsNotFollowed) {
  const WebServer server(
      file_answer("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/passwd\n"));
  EXPECT_THROW(open_source(server.url(), {}), Error);
}

TEST_F(NetworkSourceTest, AServerThatSaysNothingIsAnErrorInTime) {
  const WebServer server("", Then::kSilence);
  NetworkOptions network = options(server.url());
  network.timeout = std::chrono::milliseconds(200);
  network.grace = std::chrono::minutes(1);  // a busy machine takes long to start it
  NetworkSource source(network);
  expect_error(ErrorKind::kNoInput, HasSubstr("nothing came for 0.2 s"),
               [&source] { source.wait_until_connected(); });
}

TEST_F(NetworkSourceTest, ItCanBeStoppedWhileItConnects) {
  const WebServer server("", Then::kSilence);
  NetworkOptions network = options(server.url());
  network.timeout = std::chrono::hours(1);
  NetworkSource source(network);
  Frame frame;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kTimeout);
}

TEST_F(NetworkSourceTest, ACameraThatIsAwayIsWaitedFor) {
  std::string url;
  {
    const WebServer server("");
    url = server.url();
  }
  const CapturedLog log;
  SourceOptions wait;
  wait.wait = true;
  const auto source = open_source(url, wait);
  EXPECT_FALSE(source->online());
  Frame frame;
  while (log.text().empty()) {
    ASSERT_EQ(source->read(frame, kTimeout), ReadStatus::kTimeout);
  }
  EXPECT_THAT(log.text(), AllOf(HasSubstr("waiting for camera 127.0.0.1: http://127.0.0.1"),
                                HasSubstr("refused")));
  EXPECT_FALSE(source->online());
}

TEST_F(NetworkSourceTest, ALostCameraIsAskedAgain) {
  const WebServer server(camera_answer());
  const CapturedLog log;
  const auto source = open_source(server.url(), {});
  EXPECT_TRUE(source->online());
  Frame frame;
  while (server.requests() < 2 || !source->online()) {
    ASSERT_NE(source->read(frame, kTimeout), ReadStatus::kEnd);
  }
  EXPECT_THAT(log.text(), AllOf(HasSubstr("camera 127.0.0.1 lost: "), HasSubstr("is back after")));
}

// The process that decodes for this one, its only child.
pid_t decoder_of_this_process() {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "children");
    pid_t child = 0;
    if (file >> child) return child;
  }
  return -1;
}

TEST_F(NetworkSourceTest, ADecoderThatIsKilledIsALostCameraThatComesBack) {
  const WebServer server(camera_answer(), Then::kSilence);
  const CapturedLog log;
  const auto source = open_source(server.url(), {});
  Frame frame;
  ASSERT_EQ(read_next(*source, frame), ReadStatus::kFrame);
  const pid_t decoder = decoder_of_this_process();
  ASSERT_GT(decoder, 0);
  ::kill(decoder, SIGKILL);
  while (server.requests() < 2 || !source->online()) {
    ASSERT_NE(source->read(frame, kTimeout), ReadStatus::kEnd);
  }
  EXPECT_NE(decoder_of_this_process(), decoder);
  EXPECT_THAT(log.text(),
              AllOf(HasSubstr("camera 127.0.0.1 lost: http://127.0.0.1"),
                    HasSubstr("its decoder ended: Killed (signal 9)"), HasSubstr("is back after")));
}

TEST_F(NetworkSourceTest, FramesThatAreSuddenlyTooLargeAreSkipped) {
  std::string answer = camera_answer();
  constexpr int kFirstLarge = 5;
  constexpr int kLargeFrames = 3;
  const std::string size_marker("\xff\xc0\x00\x11\x08", 5);  // then height and width, 2 bytes each
  std::string::size_type place = 0;
  for (int i = 0; i < kFirstLarge + kLargeFrames; ++i) {
    place = answer.find(size_marker, place) + size_marker.size();
    ASSERT_LT(place, answer.size());
    if (i >= kFirstLarge) answer.replace(place, 4, std::string("\x40\x00\x40\x00", 4));  // 16384
  }
  const WebServer server(answer, Then::kSilence);
  const auto source = open_source(server.url(), {});
  Frame frame;
  do {
    ASSERT_EQ(read_next(*source, frame), ReadStatus::kFrame);
    EXPECT_EQ(frame.bgr.size(), cv::Size(64, 48));
  } while (frame_number(frame) < kServedFrames - 1);
}

TEST_F(NetworkSourceTest, ADecoderThatIsMissingEndsTheRun) {
  NetworkOptions network = options("http://127.0.0.1:1/");
  network.program = "/nowhere";
  NetworkSource source(network);
  // Under an emulator posix_spawn() leaves a child that ends with 127.
  expect_error(ErrorKind::kUnsupported,
               AnyOf(HasSubstr("/nowhere cannot be started"), HasSubstr("exit status 127")),
               [&source] { source.wait_until_connected(); });
}

TEST_F(NetworkSourceTest, CredentialsComeFromAFile) {
  const TempDir dir;
  SourceOptions with_file;
  with_file.credentials = dir.write("credentials", "user:secret\n");
  const WebServer server(file_answer(video("matroska")));
  EXPECT_THAT(open_source(server.url(), with_file)->info().description,
              AllOf(HasSubstr("http://***@127.0.0.1"), Not(HasSubstr("secret"))));
  with_file.credentials = dir / "none";
  expect_error(ErrorKind::kNoInput, HasSubstr("credentials " + dir / "none" + " cannot be read"),
               [&] { open_source(server.url(), with_file); });
}

TEST_F(NetworkSourceTest, AFrameBeyondTheLimitIsRefused) {
  const WebServer server(file_answer(video("matroska")));
  SourceOptions small;
  small.max_pixels = 64 * 48 - 1;
  expect_error(ErrorKind::kNoInput, HasSubstr("is too large: 64x48 pixels"),
               [&] { open_source(server.url(), small); });
}

}  // namespace
}  // namespace lookout
