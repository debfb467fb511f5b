// Teaching over HTTP: who may, what a request has to be, and watches.
#include "platform/http/teach_service.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "tests/platform/http/teach_testing.h"

namespace lookout {
namespace {

using nlohmann::json;

TEST_F(TeachServiceTest, WithoutALibraryOrAPasswordThereAreNoSuchRoutes) {
  EXPECT_EQ(told(200, "GET", "/api/1/session"), json::parse(R"({"role":"owner","teach":true})"));
  std::filesystem::remove(file());
  EXPECT_EQ(told(200, "GET", "/api/1/session")["teach"], false);
  for (const auto& [method, path, body] : kTeachRoutes) {
    EXPECT_EQ(refused(method, path, body), "404 not_found") << path;
  }
  write_password_hash(file(), kPasswordHash);
  start(options());
  EXPECT_EQ(told(200, "GET", "/api/1/session"), json::parse(R"({"role":"owner","teach":false})"));
  for (const auto& [method, path, body] : kTeachRoutes) {
    EXPECT_EQ(refused(method, path, body), "404 not_found") << path;
  }
}

TEST_F(TeachServiceTest, GuestsAreRefusedEverything) {
  add_gate();
  cookie_.clear();
  for (const auto& [method, path, body] : kTeachRoutes) {
    EXPECT_EQ(refused(method, path, body), "401 not_logged_in") << method << " " << path;
  }
  EXPECT_EQ(teaching_->with_library([](TeachLibrary& library) { return library.watches(); }).size(),
            1U);
}

TEST_F(TeachServiceTest, OtherPagesChangeNothing) {
  add_gate();
  for (const auto& [method, path, body] : kTeachRoutes) {
    if (method == std::string("GET")) continue;
    const std::string host = "Host: localhost:" + std::to_string(run_->port()) + "\r\n";
    const std::string own = "Origin: http://localhost:" + std::to_string(run_->port()) + "\r\n";
    const std::string is_json = "Content-Type: application/json\r\n";
    const std::string marked = "X-Lookout: 1\r\n";
    EXPECT_EQ(code(send(*run_, method, path, host + cookie_ + marked + is_json, body)),
              "cross_origin")
        << path;
    EXPECT_EQ(code(send(*run_, method, path, host + cookie_ + own + is_json, body)), "no_header")
        << path;
    EXPECT_EQ(code(send(*run_, method, path, host + cookie_ + own + marked, body)), "not_json")
        << path;
  }
  EXPECT_EQ(
      teaching_->with_library([](TeachLibrary& library) { return library.watch("gate"); }).revision,
      1);
}

TEST_F(TeachServiceTest, OtherMethodsAndPathsAreRefused) {
  const auto allowed = [this](const std::string& path) {
    const HttpAnswer answer = ask("BREW", path);
    return answer.status == 405 ? answer.headers.at("allow") : std::to_string(answer.status);
  };
  EXPECT_EQ(allowed("/api/1/teach"), "GET, HEAD");
  EXPECT_EQ(allowed("/api/1/teach/watches"), "POST");
  EXPECT_EQ(allowed("/api/1/teach/watches/gate"), "PATCH, DELETE");
  EXPECT_EQ(allowed("/api/1/teach/holds/1"), "PUT, DELETE");
  EXPECT_EQ(allowed("/api/1/teach/pictures"), "GET, HEAD, PATCH");
  EXPECT_EQ(allowed("/api/1/teach/pictures/1.jpg"), "GET, HEAD");
  for (const char* path :
       {"/api/1/teach/", "/api/1/teaching", "/api/1/teach//watches", "/api/1/teach/watches/",
        "/api/1/teach/watches//holds", "/api/1/teach/watches/gate/", "/api/1/teach/holds/one",
        "/api/1/teach/holds/-1", "/api/1/teach/pictures/0.jpg", "/api/1/teach/pictures/.jpg",
        "/api/1/teach/pictures/1.png", "/api/1/teach/pictures/1.jpg/",
        "/api/1/teach/pictures/../library.db", "/api/1/teach/pictures/1/../2.jpg",
        "/api/1/teach/pictures/99999999999999999999.jpg", "/api/1/teach/library.db"}) {
    EXPECT_EQ(refused("GET", path), "404 not_found") << path;
  }
  for (const char* name : {"..", "%2e%2e", "gate%00", "gate%2f..", "gate'--"}) {
    const std::string path = std::string("/api/1/teach/watches/") + name;
    EXPECT_EQ(refused("PATCH", path, R"({"revision":1})"), "404 no_such_watch") << name;
  }
}

TEST_F(TeachServiceTest, ABodyIsWhatTheRouteNeeds) {
  add_gate();
  const std::string watches = "/api/1/teach/watches";
  const std::string gate = watches + "/gate";
  for (const char* body : {"{", "[]", "1", "null", R"("text")", "{} {}"}) {
    EXPECT_EQ(refused("POST", watches, body), "400 bad_json") << body;
    EXPECT_EQ(refused("PATCH", "/api/1/teach/pictures", body), "400 bad_json") << body;
  }
  for (const char* body :
       {"{}", R"({"roi":[0,0,1,1],"classes":["a","b"]})", R"({"name":"x","classes":["a","b"]})",
        R"({"name":"x","roi":[0,0,1,1]})", R"({"name":1,"roi":[0,0,1,1],"classes":["a","b"]})",
        R"({"name":"x","title":1,"roi":[0,0,1,1],"classes":["a","b"]})",
        R"({"name":"x","roi":[0,0,1],"classes":["a","b"]})",
        R"({"name":"x","roi":["0",0,1,1],"classes":["a","b"]})",
        R"({"name":"x","roi":{"x":0},"classes":["a","b"]})",
        R"({"name":"x","roi":[0,0,1,1],"classes":["a",1]})",
        R"({"name":"x","roi":[0,0,1,1],"classes":"a"})"}) {
    EXPECT_EQ(refused("POST", watches, body), "422 invalid") << body;
  }
  for (const char* body : {"{}", R"({"title":"x"})", R"({"revision":"1"})", R"({"revision":-1})",
                           R"({"revision":1.5})", R"({"revision":18446744073709551615})",
                           R"({"revision":1,"roi":[]})", R"({"revision":1,"classes":{}})"}) {
    EXPECT_EQ(refused("PATCH", gate, body), "422 invalid") << body;
  }
  for (const char* body :
       {"{}", R"({"marks":{}})", R"({"marks":[1]})", R"({"marks":[{"number":1}]})",
        R"({"marks":[{"number":"1","label":"open","trashed":false,"revision":1}]})",
        R"({"marks":[{"number":1,"label":null,"trashed":false,"revision":1}]})",
        R"({"marks":[{"number":1,"label":"open","trashed":0,"revision":1}]})"}) {
    EXPECT_EQ(refused("PATCH", "/api/1/teach/pictures", body), "422 invalid") << body;
  }
  EXPECT_EQ(refused("POST", gate + "/holds", R"({"class":1})"), "422 invalid");
  EXPECT_EQ(refused("POST", gate + "/rename-class", R"({"from":"open"})"), "422 invalid");
  EXPECT_EQ(refused("POST", watches, "{\"name\":\"" + std::string(400'000, 'x') + "\"}"),
            "413 too_large");
}

// What a person typed or drew has a code of its own, and what the sentence is about.
TEST_F(TeachServiceTest, WhatCannotBeIsToldByACodeThatCanBeTranslated) {
  add_gate();
  const auto about = [this](const std::string& method, const std::string& path,
                            const std::string& body) {
    const json error = json::parse(ask(method, path, body).body)["error"];
    EXPECT_NE(error["message"], "");
    return error["code"].get<std::string>() + ": " + error.value("about", "-");
  };
  const std::string watches = "/api/1/teach/watches";
  const auto watch = [&](const std::string& name, const std::string& roi,
                         const std::string& classes, const std::string& more = "") {
    return about(
        "POST", watches,
        R"({"name":")" + name + R"(","roi":)" + roi + R"(,"classes":)" + classes + more + "}");
  };
  const std::string whole = "[0,0,1,1]";
  const std::string two = R"(["a","b"])";
  EXPECT_EQ(watch("../x", whole, two), "bad_name: ../x");
  EXPECT_EQ(watch("x", whole, two, R"(,"title":"a\nb")"), "bad_title: -");
  EXPECT_EQ(watch("x", "[0.5,0,1,1]", two), "region_outside: -");
  EXPECT_EQ(watch("x", "[0.5,0,0.001,1]", two), "region_too_small: -");
  EXPECT_EQ(watch("x", whole, R"(["a"," b"])"), "bad_class:  b");
  EXPECT_EQ(watch("x", whole, R"(["a","unknown"])"), "reserved_class: unknown");
  EXPECT_EQ(watch("x", whole, R"(["a","a"])"), "same_classes: -");
  EXPECT_EQ(watch("x", whole, R"(["a"])"), "too_few_classes: -");
  EXPECT_EQ(watch("x", whole, R"(["1","2","3","4","5","6","7","8","9"])"), "too_many_classes: 8");
  EXPECT_EQ(watch("gate", whole, two), "watch_exists: gate");
  EXPECT_EQ(watch("door", whole, two), "fixed_watch: door");
  told(201, "POST", watches + "/gate/holds", R"({"class":"open"})");
  keep(1);
  EXPECT_EQ(about("PATCH", watches + "/gate", R"({"revision":1,"classes":["half open","shut"]})"),
            "class_has_pictures: open");
  EXPECT_EQ(about("POST", watches + "/gate/rename-class", R"({"from":"ajar","to":"x"})"),
            "no_such_class: ajar");
  EXPECT_EQ(about("POST", watches + "/other/restore", "{}"), "no_such_watch: other");
}

TEST_F(TeachServiceTest, AWatchIsAddedChangedRemovedAndRestored) {
  const json added = add_gate();
  EXPECT_EQ(added["name"], "gate");
  EXPECT_EQ(added["title"], "The gate");
  EXPECT_EQ(added["roi"], json::parse("[0.1,0.2,0.5,0.25]"));
  EXPECT_EQ(added["classes"], json::parse(R"(["open","half open"])"));
  EXPECT_EQ(added["revision"], 1);
  EXPECT_EQ(refused("POST", "/api/1/teach/watches", kGate), "409 watch_exists");
  const std::string gate = "/api/1/teach/watches/gate";
  const json changed = told(200, "PATCH", gate, R"({"revision":1,"roi":[0,0,1,0.5]})");
  EXPECT_EQ(changed["roi"], json::parse("[0.0,0.0,1.0,0.5]"));
  EXPECT_EQ(changed["title"], "The gate") << "what is not there stays";
  EXPECT_EQ(changed["revision"], 2);
  EXPECT_EQ(refused("PATCH", gate, R"({"revision":1,"title":""})"), "409 changed");
  EXPECT_EQ(told(200, "POST", gate + "/rename-class", R"({"from":"open","to":"up"})")["classes"],
            json::parse(R"(["up","half open"])"));
  EXPECT_EQ(refused("POST", gate + "/rename-class", R"({"from":"open","to":"x"})"),
            "404 no_such_class");
  EXPECT_EQ(refused("POST", gate + "/rename-class", R"({"from":"up","to":"half open"})"),
            "409 class_exists");
  EXPECT_EQ(told(204, "DELETE", gate), json());
  EXPECT_EQ(refused("DELETE", gate), "404 no_such_watch");
  EXPECT_EQ(told(200, "GET", "/api/1/teach")["watches"], json::array());
  EXPECT_EQ(told(200, "POST", gate + "/restore")["classes"], json::parse(R"(["up","half open"])"));
  EXPECT_EQ(refused("POST", gate + "/restore"), "404 no_such_watch");
}

// The run has it until its reload.
TEST_F(TeachServiceTest, AWatchIsRestoredThoughTheRunStillHasIt) {
  add_gate();
  WatchList watches = http_watches({"door", "gate"});
  WatchInfo taught = *watches[1].watch;
  taught.taught = true;
  watches[1].watch = std::make_shared<WatchInfo>(taught);
  run_->reporter().watching(watches);
  EXPECT_EQ(told(204, "DELETE", "/api/1/teach/watches/gate"), json());
  EXPECT_EQ(told(200, "POST", "/api/1/teach/watches/gate/restore")["name"], "gate");
}

TEST_F(TeachServiceTest, WatchesOfTheRunKeepTheirNames) {
  EXPECT_EQ(told(200, "GET", "/api/1/teach")["fixed"], json::parse(R"(["door","yard"])"));
  std::string door = kGate;
  door.replace(door.find("gate"), 4, "door");
  EXPECT_EQ(refused("POST", "/api/1/teach/watches", door), "409 fixed_watch");
  add_gate();
  run_->reporter().watching(http_watches({"door", "gate"}));
  EXPECT_EQ(told(200, "GET", "/api/1/teach")["fixed"], json::parse(R"(["door"])"))
      << "what is taught can be changed";
}

TEST_F(TeachServiceTest, TheLimitsAreTold) {
  TeachLimits limits;
  limits.watches = 1;
  limits.classes = 2;
  limits.pictures = 3;
  run_.reset();
  open(limits);
  start(teach_options());
  add_gate();
  EXPECT_EQ(told(200, "GET", "/api/1/teach")["limits"],
            json::parse(R"({"watches":1,"classes":2,"pictures":3})"));
  const std::string watches = "/api/1/teach/watches";
  EXPECT_EQ(refused("POST", watches, R"({"name":"x","roi":[0,0,1,1],"classes":["a","b"]})"),
            "422 too_many_watches");
  EXPECT_EQ(refused("PATCH", watches + "/gate", R"({"revision":1,"classes":["a","b","c"]})"),
            "422 too_many_classes");
  const json hold = told(201, "POST", watches + "/gate/holds", R"({"class":"open"})");
  keep(4);
  const json full = told(200, "GET", "/api/1/teach")["hold"];
  EXPECT_EQ(full["kept"], 3);
  EXPECT_EQ(full["problem"], "library_full");
  EXPECT_NE(full["why"], "");
}

TEST_F(TeachServiceTest, WhatWasLostIsTold) {
  HttpServiceOptions options = teach_options();
  options.teach.damage = "the library was damaged";
  options.teach.damaged_file = "/var/lib/lookout/teach/library.db.damaged";
  start(std::move(options));
  const json overview = told(200, "GET", "/api/1/teach");
  EXPECT_EQ(overview["damage"], "the library was damaged");
  EXPECT_EQ(overview["damaged_file"], "/var/lib/lookout/teach/library.db.damaged");
}

TEST_F(TeachServiceTest, ASlowDiskHindersNobodyElse) {
  add_gate();
  told(201, "POST", "/api/1/teach/watches/gate/holds", R"({"class":"open"})");
  std::thread waiting;
  teaching_->with_library([&](TeachLibrary&) {
    waiting = std::thread([this] { told(200, "GET", "/api/1/teach"); });
    EXPECT_EQ(told(200, "PUT", "/api/1/teach/holds/1")["held"], true);
    EXPECT_EQ(told(200, "GET", "/api/1/session")["role"], "owner");
  });
  waiting.join();
}

TEST_F(TeachServiceTest, AsManyRequestsAsAllowedWaitForTheDisk) {
  LoginService login({}, LoginOptions{file(), ""}, /*teaches=*/true);
  TeachService service(login, teach_options().teach);
  HttpRequest request;
  request.method = "GET";
  request.path = "/api/1/teach";
  int waiting = 0;
  int busy = 0;
  teaching_->with_library([&](TeachLibrary&) {
    for (std::size_t i = 0; i < TeachService::kMaxWaiting + 2; ++i) {
      ++waiting;
      service.handle(request, {}, [&](const HttpResponse& response) {
        --waiting;
        busy += response.status == 503 && response.error == "busy" ? 1 : 0;
      });
    }
    EXPECT_GE(busy, 1);
    EXPECT_LE(busy, 2) << "one may be under way";
  });
  while (waiting > 0) service.poll();
  EXPECT_LE(busy, 2);
}

}  // namespace
}  // namespace lookout
