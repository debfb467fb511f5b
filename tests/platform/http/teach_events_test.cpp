// Changes of the history that were wrong, and are taught over HTTP.
#include <gmock/gmock.h>

#include <fstream>

#include "platform/history/history_store.h"
#include "platform/pictures/encode_picture.h"
#include "tests/platform/http/teach_testing.h"

namespace lookout {
namespace {

using nlohmann::json;
using testing::IsEmpty;
using testing::SizeIs;

const HistoryTime kEvening{std::chrono::seconds(1'795'200'000)};
constexpr const char* kGateEvents = "/api/1/teach/watches/gate/events";

// The history has changes of the gate, 1 by day and 2 at night, and one of the door, 3. The
// gate's 4 has no picture.
class TeachEventsTest : public TeachServiceTest {
 protected:
  TeachEventsTest() {
    HistoryStore store(history_);
    add(store, "gate", encode_jpeg(scene(1), 85));
    add(store, "gate", encode_jpeg(scene(2) * 0.1, 85));
    add(store, "door", encode_jpeg(scene(3), 85));
    add(store, "gate", "");
    HttpServiceOptions options = teach_options();
    options.teach.event_picture = [folder = history_](const std::string& watch,
                                                      std::int64_t number) {
      return read_event_picture(folder, watch, number);
    };
    start(std::move(options));
    add_gate();
  }

  static void add(HistoryStore& store, const std::string& watch, const std::string& jpeg) {
    HistoryChange change;
    change.number = store.take_number();
    change.at = kEvening + std::chrono::minutes(change.number);
    change.watch = watch;
    change.state = "open";
    change.model = "gate.head";
    if (!jpeg.empty()) store.write_picture(change.number, jpeg);
    change.picture = static_cast<std::int64_t>(jpeg.size());
    store.add({change});
  }
  std::filesystem::path picture_of(std::int64_t event) const {
    return *HistoryReader(history_).picture(event);
  }

  const std::filesystem::path history_ = directory_.path() / "history";
};

TEST_F(TeachEventsTest, ItsPictureIsKeptWithTheLabelThatItShouldHaveHad) {
  const json kept = told(201, "POST", kGateEvents, R"({"event":1,"class":"half open"})");
  EXPECT_EQ(kept["watch"], "gate");
  EXPECT_EQ(kept["label"], "half open");
  EXPECT_EQ(kept["origin"], "event");
  EXPECT_EQ(kept["time"], "2026-11-20T18:41:00.000Z");
  EXPECT_EQ(kept["night"], false);
  const std::string number = std::to_string(kept["number"].get<int>());
  const HttpAnswer answer = ask("GET", "/api/1/teach/pictures/" + number + ".jpg");
  EXPECT_EQ(answer.body, read_file(picture_of(1)));
  const json night = told(201, "POST", kGateEvents, R"({"event":2,"class":"_other"})");
  EXPECT_EQ(night["label"], "_other");
  EXPECT_EQ(night["night"], true);
}

TEST_F(TeachEventsTest, ToldAgainItHasAnotherLabelAndNoSecondPicture) {
  const json first = told(201, "POST", kGateEvents, R"({"event":1,"class":"half open"})");
  const json second = told(200, "POST", kGateEvents, R"({"event":1,"class":"_other"})");
  EXPECT_EQ(second["number"], first["number"]);
  EXPECT_EQ(second["label"], "_other");
  EXPECT_THAT(numbers(""), SizeIs(1));
}

TEST_F(TeachEventsTest, WhatWasCorrectedIsListedWithItsTime) {
  told(201, "POST", kGateEvents, R"({"event":1,"class":"half open"})");
  const json second = told(201, "POST", kGateEvents, R"({"event":2,"class":"_other"})");
  const std::string list = "/api/1/teach/pictures?watch=gate&origin=event";
  const json found = told(200, "GET", list)["pictures"];
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], second);
  EXPECT_EQ(found[1]["time"], "2026-11-20T18:41:00.000Z");
  EXPECT_EQ(found[1]["label"], "half open");
  EXPECT_EQ(told(200, "GET", list + "&limit=1")["next"], second["number"]);
  EXPECT_EQ(refused("GET", "/api/1/teach/pictures?watch=gate&origin=held"), "400 bad_query");
}

TEST_F(TeachEventsTest, OneThatWasThrownAwayComesBackWhenItIsToldAgain) {
  const json first = told(201, "POST", kGateEvents, R"({"event":1,"class":"half open"})");
  const json mark{{"number", first["number"]},
                  {"label", "half open"},
                  {"trashed", true},
                  {"revision", first["revision"]}};
  told(200, "PATCH", "/api/1/teach/pictures", json({{"marks", {mark}}}).dump());
  EXPECT_THAT(numbers(""), IsEmpty());
  const json again = told(200, "POST", kGateEvents, R"({"event":1,"class":"open"})");
  EXPECT_EQ(again["number"], first["number"]);
  EXPECT_EQ(again["trashed"], false);
  EXPECT_THAT(numbers("&class=open"), SizeIs(1));
}

TEST_F(TeachEventsTest, WhatIsNotThereIsNotFound) {
  for (const char* event : {"3", "4", "5", "0"}) {
    EXPECT_EQ(
        refused("POST", kGateEvents, std::string(R"({"class":"open","event":)") + event + "}"),
        "404 no_such_event")
        << event;
  }
  EXPECT_EQ(refused("POST", "/api/1/teach/watches/door/events", R"({"event":3,"class":"open"})"),
            "404 no_such_watch");
  std::filesystem::remove(picture_of(1));
  EXPECT_EQ(refused("POST", kGateEvents, R"({"event":1,"class":"open"})"), "404 no_such_event");
  EXPECT_THAT(numbers(""), IsEmpty());
}

TEST_F(TeachEventsTest, AClassThatTheWatchHasNotIsRefused) {
  for (const char* label : {"ajar", ""}) {
    EXPECT_EQ(refused("POST", kGateEvents, std::string(R"({"event":1,"class":")") + label + "\"}"),
              "404 no_such_class");
  }
  for (const char* body : {R"({"event":1,"class":1})", R"({"event":1})", R"({"class":"open"})",
                           R"({"event":"1","class":"open"})", R"({"event":-1,"class":"open"})"}) {
    EXPECT_EQ(refused("POST", kGateEvents, body), "422 invalid") << body;
  }
  EXPECT_THAT(numbers(""), IsEmpty());
}

TEST_F(TeachEventsTest, APictureThatIsDamagedIsNotTaught) {
  std::ofstream(picture_of(1), std::ios::trunc) << "no picture";
  EXPECT_EQ(refused("POST", kGateEvents, R"({"event":1,"class":"open"})"), "422 damaged_picture");
  EXPECT_THAT(numbers(""), IsEmpty());
}

TEST_F(TeachEventsTest, WithoutAHistoryThereAreNoEvents) {
  std::filesystem::remove_all(history_);
  EXPECT_EQ(refused("POST", kGateEvents, R"({"event":1,"class":"open"})"), "503 no_history");
  start(teach_options());
  EXPECT_EQ(refused("POST", kGateEvents, R"({"event":1,"class":"open"})"), "404 no_such_event");
}

}  // namespace
}  // namespace lookout
