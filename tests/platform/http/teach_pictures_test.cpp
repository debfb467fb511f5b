// Teaching over HTTP: the button that is held, pictures, and models.
#include "platform/http/teach_service.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <opencv2/imgcodecs.hpp>
#include <vector>

#include "tests/platform/http/teach_testing.h"

namespace lookout {
namespace {

using nlohmann::json;
using testing::ElementsAre;

TEST_F(TeachServiceTest, AHoldIsBegunRenewedAndReleased) {
  add_gate();
  const std::string holds = "/api/1/teach/watches/gate/holds";
  EXPECT_EQ(told(200, "GET", "/api/1/teach")["hold"], json());
  const json begun = told(201, "POST", holds, R"({"class":"half open"})");
  EXPECT_EQ(begun, json::parse(R"({"number":1,"watch":"gate","label":"half open","held":true,
                                   "kept":0,"similar":0,"problem":"","why":""})"));
  EXPECT_EQ(refused("POST", holds, R"({"class":"open"})"), "409 held");
  keep(3);
  EXPECT_EQ(told(200, "PUT", "/api/1/teach/holds/1")["kept"], 3);
  EXPECT_EQ(told(200, "GET", "/api/1/teach")["hold"]["held"], true);
  EXPECT_EQ(told(200, "DELETE", "/api/1/teach/holds/1")["held"], false);
  EXPECT_EQ(refused("PUT", "/api/1/teach/holds/2"), "404 no_such_hold");
  EXPECT_EQ(told(201, "POST", holds, R"({"class":"_other"})")["label"], "_other");
  pass(HoldLease::kLease);
  EXPECT_EQ(told(200, "PUT", "/api/1/teach/holds/2")["held"], false) << "the page was gone";
  EXPECT_EQ(refused("POST", holds, R"({"class":"shut"})"), "404 no_such_class");
  teaching_->set_online(false);
  EXPECT_EQ(refused("POST", holds, R"({"class":"open"})"), "409 camera_away");
}

TEST_F(TeachServiceTest, ProgressTellsWhatIsMissing) {
  add_gate();
  teach("open", 5);
  teach("half open", 3);
  const json told_now = told(200, "GET", "/api/1/teach");
  EXPECT_EQ(told_now["usage"]["pictures"], 8);
  EXPECT_GT(told_now["usage"]["bytes"], 8000);
  EXPECT_EQ(told_now["damage"], "");
  const json watch = told_now["watches"][0];
  EXPECT_EQ(watch["unlabelled"], 0);
  EXPECT_EQ(watch["model"], json());
  EXPECT_EQ(watch["previous"], json());
  EXPECT_EQ(watch["trained"], json());
  const json progress = watch["progress"];
  EXPECT_EQ(progress["classes"],
            json::parse(R"([{"label":"open","pictures":5,"night":0,"occasions":1,"hours":[13]},
                            {"label":"half open","pictures":3,"night":0,"occasions":1,
                             "hours":[13]}])"));
  const json missing = json::parse(R"({"kind":"pictures","label":"half open","count":2})");
  EXPECT_EQ(std::count(progress["missing"].begin(), progress["missing"].end(), missing), 1);
  EXPECT_EQ(progress["can_train"], false);
  EXPECT_EQ(progress["can_tell"], false);
}

TEST_F(TeachServiceTest, PicturesAreListedNewestFirst) {
  add_gate();
  teach("open", 2);
  teach("half open", 3);
  const json all = told(200, "GET", "/api/1/teach/pictures?watch=gate&limit=2");
  EXPECT_EQ(all["pictures"][0], json::parse(R"({"number":5,"watch":"gate","label":"half open",
                            "time":"2026-11-21T12:16:42.500Z","night":false,"origin":"held",
                            "guess":"","revision":1,"trashed":false})"));
  EXPECT_EQ(all["next"], 4);
  EXPECT_THAT(numbers("&limit=2&before=4"), ElementsAre(3, 2));
  EXPECT_EQ(told(200, "GET", "/api/1/teach/pictures?watch=gate&limit=2&before=2")["next"], json());
  EXPECT_THAT(numbers("&class=half%20open"), ElementsAre(5, 4, 3));
  EXPECT_THAT(numbers("&class=half+open"), ElementsAre(5, 4, 3));
  told(200, "PATCH", "/api/1/teach/pictures",
       R"({"marks":[{"number":1,"label":"open","trashed":true,"revision":1},
                    {"number":5,"label":"","trashed":false,"revision":1}]})");
  EXPECT_THAT(numbers("&trash=1"), ElementsAre(1));
  EXPECT_THAT(numbers("&unlabelled=1"), ElementsAre(5));
  EXPECT_THAT(numbers("&class=open"), ElementsAre(2));
  EXPECT_EQ(told(200, "GET", "/api/1/teach")["watches"][0]["unlabelled"], 1);
  EXPECT_EQ(refused("GET", "/api/1/teach/pictures?watch=other"), "404 no_such_watch");
  EXPECT_EQ(refused("GET", "/api/1/teach/pictures?watch=gate&class=shut"), "404 no_such_class");
  for (const char* query :
       {"", "?class=open", "?watch=gate&limit=0", "?watch=gate&limit=101", "?watch=gate&limit=x",
        "?watch=gate&before=-1", "?watch=gate&before=1x", "?watch=gate&trash=yes",
        "?watch=gate&unlabelled=0", "?watch=gate&class=open&unlabelled=1"}) {
    EXPECT_EQ(refused("GET", std::string("/api/1/teach/pictures") + query), "400 bad_query")
        << query;
  }
}

TEST_F(TeachServiceTest, PicturesAreChangedAllOrNone) {
  add_gate();
  teach("open", 2);
  const std::string path = "/api/1/teach/pictures";
  const json done = told(200, "PATCH", path,
                         R"({"marks":[{"number":1,"label":"half open","trashed":false,"revision":1},
                                      {"number":2,"label":"open","trashed":true,"revision":1}]})");
  EXPECT_EQ(done["undo"], json::parse(R"([{"number":1,"label":"open","trashed":false,"revision":2},
                            {"number":2,"label":"open","trashed":false,"revision":2}])"));
  EXPECT_EQ(refused("PATCH", path,
                    R"({"marks":[{"number":1,"label":"open","trashed":true,"revision":2},
                                 {"number":2,"label":"open","trashed":true,"revision":1}]})"),
            "409 changed");
  EXPECT_EQ(refused("PATCH", path,
                    R"({"marks":[{"number":1,"label":"open","trashed":true,"revision":2},
                                 {"number":3,"label":"open","trashed":true,"revision":1}]})"),
            "404 no_such_picture");
  EXPECT_THAT(numbers("&trash=1"), ElementsAre(2)) << "nothing was changed";
  told(200, "PATCH", path, json({{"marks", done["undo"]}}).dump());
  EXPECT_THAT(numbers("&class=open"), ElementsAre(2, 1));
  json many = json::array();
  for (int i = 0; i < 501; ++i) {
    many.push_back({{"number", 1}, {"label", "open"}, {"trashed", false}, {"revision", 0}});
  }
  EXPECT_EQ(refused("PATCH", path, json({{"marks", many}}).dump()), "422 invalid");
}

TEST_F(TeachServiceTest, AsManyMarksAsAllowedMayHaveTheLongestLabels) {
  add_gate();
  teach("open", 1);
  // JSON may write each character of a label so.
  std::string label;
  for (int i = 0; i < 100; ++i) label += "\\u0061";
  told(200, "PATCH", "/api/1/teach/watches/gate",
       R"({"revision":1,"classes":["open","half open",")" + std::string(100, 'a') + "\"]}");
  std::string marks;
  for (int i = 0; i < 500; ++i) {
    marks += (i == 0 ? "" : ",") + (R"({"number":1,"label":")" + label) +
             R"(","trashed":false,"revision":0})";
  }
  const json done = told(200, "PATCH", "/api/1/teach/pictures", "{\"marks\":[" + marks + "]}");
  EXPECT_EQ(done["undo"].size(), 500U);
}

TEST_F(TeachServiceTest, APictureIsShownAsItIsAndSmall) {
  add_gate();
  teach("open", 1);
  const auto file = teaching_->with_library([](TeachLibrary& library) { return library.file(1); });
  std::ifstream stream(file, std::ios::binary);
  const std::string kept{std::istreambuf_iterator<char>(stream), {}};
  const HttpAnswer whole = ask("GET", "/api/1/teach/pictures/1.jpg");
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.headers.at("content-type"), "image/jpeg");
  EXPECT_EQ(whole.headers.at("cache-control"), "private, max-age=86400, immutable");
  EXPECT_TRUE(whole.body == kept);
  const HttpAnswer small = ask("GET", "/api/1/teach/pictures/1.jpg?size=thumb");
  const cv::Mat thumb =
      cv::imdecode(std::vector<char>(small.body.begin(), small.body.end()), cv::IMREAD_COLOR);
  EXPECT_EQ(thumb.cols, TeachService::kThumbSide);
  EXPECT_EQ(thumb.rows, TeachService::kThumbSide * 9 / 16);
  EXPECT_LT(small.body.size(), kept.size() / 2);
  EXPECT_EQ(refused("GET", "/api/1/teach/pictures/1.jpg?size=large"), "400 bad_query");
  EXPECT_EQ(ask("GET", "/api/1/teach/pictures/2.jpg").headers.at("cache-control"), "no-store");
  EXPECT_EQ(refused("GET", "/api/1/teach/pictures/2.jpg"), "404 no_such_picture");
  std::ofstream(file, std::ios::binary) << "no picture";
  EXPECT_EQ(refused("GET", "/api/1/teach/pictures/1.jpg?size=thumb"), "422 damaged_picture");
  std::filesystem::remove(file);
  EXPECT_EQ(refused("GET", "/api/1/teach/pictures/1.jpg"), "404 no_picture");
}

TEST_F(TeachServiceTest, APictureThatIsSmallIsItsOwnThumb) {
  add_gate();
  const auto number = teaching_->with_library([this](TeachLibrary& library) {
    NewPicture picture;
    picture.watch = "gate";
    picture.time = now().wall;
    std::vector<unsigned char> jpeg;
    cv::imencode(".jpg", cv::Mat(100, 200, CV_8UC3, cv::Scalar(1, 2, 3)), jpeg);
    return library.add_picture(picture, {reinterpret_cast<const char*>(jpeg.data()), jpeg.size()});
  });
  const HttpAnswer small =
      ask("GET", "/api/1/teach/pictures/" + std::to_string(number) + ".jpg?size=thumb");
  const cv::Mat thumb =
      cv::imdecode(std::vector<char>(small.body.begin(), small.body.end()), cv::IMREAD_COLOR);
  EXPECT_EQ(thumb.cols, 200);
}

TEST_F(TeachServiceTest, WithoutATrainerNoModelIsTrained) {
  add_gate();
  teach("open", 5);
  teach("half open", 5);
  EXPECT_EQ(told(200, "GET", "/api/1/teach")["job"], json());
  EXPECT_EQ(refused("POST", "/api/1/teach/watches/gate/job"), "404 no_trainer");
  EXPECT_EQ(refused("DELETE", "/api/1/teach/job"), "404 no_trainer");
  EXPECT_EQ(refused("PUT", "/api/1/teach/watches/gate/model", R"({"sha256":"new"})"),
            "404 no_trainer");
}

TEST_F(TeachServiceTest, AModelIsTrainedAndUsed) {
  const auto trainer = std::make_shared<FakeTrainer>();
  start(teach_options(trainer));
  add_gate();
  teach("open", 5);
  const std::string gate = "/api/1/teach/watches/gate";
  EXPECT_EQ(refused("POST", gate + "/job"), "422 too_few");
  teach("half open", 5);
  EXPECT_EQ(told(202, "POST", gate + "/job"),
            json::parse(R"({"watch":"gate","state":"running","done":0.25,"step":"pictures",
                            "left":12,"code":"","message":""})"));
  EXPECT_EQ(trainer->files(), 10U);
  EXPECT_EQ(refused("POST", gate + "/job"), "409 training");
  EXPECT_EQ(refused("POST", "/api/1/teach/watches/other/job"), "404 no_such_watch");
  told(204, "DELETE", "/api/1/teach/job");
  EXPECT_EQ(told(200, "GET", "/api/1/teach")["job"]["state"], "cancelled");
  const json used = told(200, "PUT", gate + "/model", R"({"sha256":"new"})");
  EXPECT_EQ(used["previous"]["sha256"], "old");
  ASSERT_EQ(used["models"].size(), 2U);
  EXPECT_EQ(used["models"][1],
            json::parse(R"({"sha256":"old","time":"2026-11-21T12:00:00.000Z","pictures":10,
      "right":9,"of":10,"interval":[0.5,0.75],"can_tell":false,"classes":["half open","open"],
      "roi":[0.0,0.5,1.0,0.25]})"));
  json model = used["model"];
  EXPECT_EQ(model["mistakes"].size(), 12U);
  EXPECT_EQ(model["mistakes"][0],
            json::parse(R"({"picture":7,"label":"open","predicted":"half open","score":0.75})"));
  model.erase("mistakes");
  EXPECT_EQ(model, json::parse(R"({"sha256":"new","time":"2026-11-21T12:00:00.000Z","pictures":10,
      "right":9,"of":10,"interval":[0.5,0.75],"can_tell":false,"day":{"right":9,"of":10},
      "night":null,"compared":{"trained":{"right":9,"of":10},"in_use":{"right":8,"of":10}},"classes":["half open","open"],
      "roi":[0.0,0.5,1.0,0.25],
      "confusions":[{"label":"open","predicted":"half open","pictures":20}]})"));
  EXPECT_EQ(refused("PUT", gate + "/model", R"({"sha256":"other"})"), "404 no_trained_model");
  EXPECT_EQ(refused("PUT", gate + "/model"), "422 invalid");
}

TEST_F(TeachServiceTest, AWatchThatIsRemovedIsNotTrainedAnyMore) {
  const auto trainer = std::make_shared<FakeTrainer>();
  start(teach_options(trainer));
  add_gate();
  teach("open", 5);
  teach("half open", 5);
  told(202, "POST", "/api/1/teach/watches/gate/job");
  told(204, "DELETE", "/api/1/teach/watches/gate");
  EXPECT_EQ(trainer->notes().back(), "retire gate");
  EXPECT_EQ(told(200, "GET", "/api/1/teach")["job"]["state"], "cancelled");
}

TEST_F(TeachServiceTest, TheRunFollowsWhatBecomesOfAWatch) {
  const auto trainer = std::make_shared<FakeTrainer>();
  start(teach_options(trainer));
  add_gate();
  const std::string gate = "/api/1/teach/watches/gate";
  told(200, "PATCH", gate, R"({"revision":1,"title":"Front gate"})");
  told(204, "DELETE", gate);
  told(200, "POST", gate + "/restore");
  EXPECT_EQ(refused("POST", gate + "/restore"), "404 no_such_watch");
  EXPECT_EQ(refused("POST", "/api/1/teach/watches", kGate), "409 watch_exists");
  EXPECT_THAT(trainer->notes(), testing::ElementsAre("begin gate", "rename gate: Front gate",
                                                     "retire gate", "restore gate"));
}

TEST_F(TeachServiceTest, AWatchWhoseModelIsInUseIsNotAddedAgain) {
  const auto trainer = std::make_shared<FakeTrainer>();
  start(teach_options(trainer));
  std::string hut = kGate;
  hut.replace(hut.find("gate"), 4, FakeTrainer::kUsedName);
  EXPECT_EQ(refused("POST", "/api/1/teach/watches", hut), "409 watch_exists");
  EXPECT_EQ(told(200, "GET", "/api/1/teach")["watches"], nlohmann::json::array());
  add_gate();
  EXPECT_EQ(refused("POST", "/api/1/teach/watches", kGate), "409 watch_exists");
  EXPECT_THAT(trainer->notes(), testing::ElementsAre("begin gate")) << "its models stay";
}

}  // namespace
}  // namespace lookout
