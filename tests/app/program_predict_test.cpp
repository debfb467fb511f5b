// Pictures that clients send to the program.
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "tests/platform/http/http_client.h"
#include "tests/support/program.h"
#include "tests/support/program_results.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using nlohmann::json;

json predict(std::uint16_t port, const std::string& picture) {
  HttpClient client(port);
  client.send(
      "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
      "Content-Length: " +
      std::to_string(picture.size()) + "\r\n\r\n" + picture);
  return json::parse(client.read_answer().body);
}

// Half red, half white, which is turned or cut by nobody.
std::string write_picture(const TempDir& directory) {
  cv::Mat picture(120, 160, CV_8UC3, cv::Scalar(0, 0, 255));
  picture(cv::Rect(0, 0, 80, 120)).setTo(cv::Scalar::all(255));
  const std::string path = directory / "picture.png";
  cv::imwrite(path, picture);
  return path;
}

TEST(Program, ServesTheAnswersOfARunOnTheSameFile) {
  const TempDir directory;
  const std::string path = write_picture(directory);
  const json run = classifications(run_lookout({path, "--format", "json"})).at(0);
  Program server({"serve", "--set", "http.address=127.0.0.1:0"});
  const json answer = predict(http_port(server), read_file(path));
  ASSERT_EQ(answer["results"].size(), run["results"].size());
  for (std::size_t i = 0; i < run["results"].size(); ++i) {
    EXPECT_EQ(answer["results"][i]["label"], run["results"][i]["label"]);
    EXPECT_EQ(answer["results"][i]["score"], run["results"][i]["score"]);
  }
  kill(server.pid(), SIGTERM);
  const ProgramResult result = server.finish();
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "");
}

TEST(Program, ClassifiesPicturesBesideItsCameraWithoutTurningThem) {
  const TempDir directory;
  const std::string picture = read_file(write_picture(directory));
  Program server({"serve", "--set", "http.address=127.0.0.1:0"});
  const json alone = predict(http_port(server), picture);
  Program program({"test://red", "--set", "http.address=127.0.0.1:0", "--set", "camera.rotation=90",
                   "--set", "model.workers=2"});
  EXPECT_EQ(predict(http_port(program), picture)["results"], alone["results"]);
  kill(program.pid(), SIGTERM);
  kill(server.pid(), SIGTERM);
  EXPECT_EQ(program.finish().status, 0);
  EXPECT_EQ(server.finish().status, 0);
}

TEST(Program, ServesWithoutASourceAndRunsNotWithoutBoth) {
  expect_failure(run_lookout({"serve", "/dev/video0"}), 64, "serve takes no SOURCE");
  expect_failure(run_lookout({"none"}), 78, "--http");
}

}  // namespace
}  // namespace lookout
