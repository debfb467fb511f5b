// Pictures over HTTP: a real server and real clients, on the loopback interface.
#include "platform/http/predict_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/platform/http/http_client.h"
#include "tests/platform/http/predict_run.h"

namespace lookout {
namespace {

using nlohmann::json;

TEST(Predict, AnswersAsTheTutorialDoes) {
  const PredictRun run;
  const json answer = run.ask(form_of({{"grey.png", png_of(40)}}));
  EXPECT_EQ(answer["class_id"], "n1040");
  EXPECT_EQ(answer["class_name"], "value_40");
  EXPECT_EQ(answer["results"].size(), 3U);
  EXPECT_EQ(answer["results"][0]["label"], "value 40");
  EXPECT_EQ(answer["results"][0]["index"], 40);
  EXPECT_EQ(answer["score"], answer["results"][0]["score"]);
  EXPECT_EQ(answer["model"], "grey");
  EXPECT_GE(answer["timing_ms"]["total"], answer["timing_ms"]["inference"]);
}

TEST(Predict, WithoutClassIdsTheyAreTheIndices) {
  const PredictRun run({}, {}, 0, false);
  EXPECT_EQ(run.ask(form_of({{"grey.png", png_of(41)}}))["class_id"], "41");
}

TEST(Predict, TakesTheFileItselfWhateverTheMethod) {
  const PredictRun run;
  for (const char* type : {"image/png", "image/jpeg", "application/octet-stream", ""}) {
    for (const char* method : {"POST", "PUT"}) {
      const HttpAnswer answer = run.send(request_of(png_of(9), type, "/predict", method));
      EXPECT_EQ(answer.status, 200) << type;
      EXPECT_EQ(json::parse(answer.body)["class_name"], "value_9");
    }
  }
}

TEST(Predict, SeveralPicturesAreAnsweredInTheirOrder) {
  const PredictRun run;
  const json answer =
      run.ask(form_of({{"a.png", png_of(3)}, {"b\xff.txt", "text"}, {"c.png", png_of(200)}}));
  ASSERT_EQ(answer["predictions"].size(), 3U);
  EXPECT_EQ(answer["predictions"][0]["file"], "a.png");
  EXPECT_EQ(answer["predictions"][0]["class_name"], "value_3");
  EXPECT_EQ(answer["predictions"][1]["error"]["code"], "not_a_picture");
  EXPECT_FALSE(answer["predictions"][1].contains("class_id"));
  EXPECT_EQ(answer["predictions"][2]["class_name"], "value_200");
}

TEST(Predict, WhatIsNotCertainHasNoClass) {
  const PredictRun run({}, {}, 0.99F);
  const json answer = run.ask(form_of({{"grey.png", png_of(40)}}));
  EXPECT_TRUE(answer["class_id"].is_null());
  EXPECT_TRUE(answer["class_name"].is_null());
  EXPECT_EQ(answer["results"].size(), 0U);
}

TEST(Predict, EachMistakeHasItsCode) {
  HttpServiceOptions options;
  options.predict.pixels = 256;
  const PredictRun run({}, std::move(options));
  const std::string png = png_of(1);
  EXPECT_EQ(run.mistake(""), "400 no_file");
  EXPECT_EQ(run.mistake("--x--"), "400 no_file");
  EXPECT_EQ(run.mistake(form_of({{"", ""}})), "400 no_file");
  EXPECT_EQ(run.mistake(form_of({{"a.png", ""}})), "400 empty_file");
  EXPECT_EQ(run.mistake("--x\r\n"), "400 bad_multipart");
  EXPECT_EQ(run.mistake("--x--", "multipart/form-data"), "400 bad_multipart");
  EXPECT_EQ(run.mistake(form_of({{"a.txt", "text"}})), "415 not_a_picture");
  EXPECT_EQ(run.mistake("text", "text/plain"), "415 unsupported_type");
  EXPECT_EQ(run.mistake(png.substr(0, 40), "image/png"), "422 damaged_picture");
  EXPECT_EQ(run.mistake("\xff\xd8\xff\xe0 no more", "image/jpeg"), "422 damaged_picture");
  EXPECT_EQ(run.mistake(png_of(1, 17), "image/png"), "413 too_many_pixels");
  EXPECT_THAT(run.ask(png_of(1, 17), "image/png")["error"]["message"].get<std::string>(),
              testing::HasSubstr("is too large: 17x17 pixels, the limit is 0.000256 megapixels "
                                 "(http.max-pixels), and 16384 a side"));
  std::vector<UploadedFile> many(PredictService::kMaxPictures, {"a.png", png});
  EXPECT_EQ(run.send(request_of(form_of(many), kFormType)).status, 200);
  many.push_back(many.front());
  EXPECT_EQ(run.mistake(form_of(many)), "413 too_many_pictures");
  EXPECT_EQ(run.mistake(form_of({{"a.txt", "text"}, {"b.png", png_of(1, 17)}})),
            "415 not_a_picture");  // the first one's
}

TEST(Predict, PicturesAreThePartsCalledFileAndThoseWithAFilesName) {
  const PredictRun run;
  const auto part = [](const std::string& disposition, const std::string& content) {
    return "--x\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n";
  };
  const std::string form = part("name=\"file\"", png_of(1)) + part("name=\"note\"", png_of(2)) +
                           part("name=\"other\"; filename=\"a.png\"", png_of(3)) +
                           part("name=\"after\"", "text") + "--x--\r\n";
  const json answer = run.ask(form);
  ASSERT_EQ(answer["predictions"].size(), 2U);
  EXPECT_EQ(answer["predictions"][0]["class_name"], "value_1");
  EXPECT_EQ(answer["predictions"][1]["class_name"], "value_3");
}

TEST(Predict, SpeaksLikeTorchServe) {
  const PredictRun run;
  const HttpAnswer answer = run.send(request_of(png_of(7), "", "/predictions/grey", "PUT"));
  EXPECT_EQ(answer.status, 200);
  const json scores = json::parse(answer.body);
  EXPECT_EQ(scores.size(), 3U);
  EXPECT_GT(scores["value 7"], scores["value 8"]);
  for (const char* path : {"/predictions/other", "/predictions/a/predictions/grey"}) {
    const HttpAnswer other = run.send(request_of(png_of(7), "", path));
    EXPECT_EQ(other.status, 404);
    EXPECT_EQ(json::parse(other.body)["error"]["code"], "no_such_model") << path;
  }
  EXPECT_EQ(json::parse(http_get(run.port(), "/ping").body)["status"], "Healthy");
  EXPECT_EQ(http_get(run.port(), "/predictions/grey").status, 405);
}

// "gate" looks at the left half, and "lamp" at the right one, with a model of its own if
// `several_models`.
Plan two_watches(bool several_models) {
  Plan plan = grey_plan();
  plan.regions.push_back(several_models ? grey_region(true, "other") : plan.regions.front());
  plan.regions[0].view.roi = {0, 0, 0.5, 1};
  plan.regions[1].view.roi = {0.5, 0, 0.5, 1};
  const auto watch = [](const std::string& name, const std::string& title) {
    return std::make_shared<WatchInfo>(WatchInfo{name, {}, title});
  };
  plan.watches = {{watch("gate", ""), 0, {}}, {watch("lamp", "<b>\"&{{watches}}"), 1, {}}};
  return plan;
}

// The left half has one grey and the right half another one.
std::string png_of_halves(int left, int right) {
  cv::Mat picture(16, 32, CV_8UC3, cv::Scalar::all(left));
  picture.colRange(16, 32).setTo(cv::Scalar::all(right));
  std::vector<unsigned char> bytes;
  cv::imencode(".png", picture, bytes);
  return {bytes.begin(), bytes.end()};
}

TEST(Predict, AWatchLooksAtItsRegionWithItsModel) {
  const PredictRun run({}, {}, two_watches(/*several_models=*/true));
  const std::string png = png_of_halves(30, 200);
  const auto ask = [&](const std::string& path) {
    return json::parse(run.send(request_of(png, "image/png", path)).body);
  };
  const json gate = ask("/predict?watch=gate");
  EXPECT_EQ(gate["class_name"], "value_30");
  EXPECT_EQ(gate["model"], "grey");
  EXPECT_EQ(gate["watch"], "gate");
  EXPECT_EQ(gate["state"], "value 30");
  const json lamp = ask("/predict?watch=l%61mp");
  EXPECT_EQ(lamp["class_name"], "value_200");
  EXPECT_EQ(lamp["model"], "other");
  EXPECT_EQ(lamp["watch"], "lamp");
}

TEST(Predict, AFormMayNameTheWatch) {
  const PredictRun run({}, {}, two_watches(/*several_models=*/true));
  const std::string field = "--x\r\nContent-Disposition: form-data; name=\"watch\"\r\n\r\n";
  const std::string files = form_of({{"a.png", png_of_halves(1, 2)}, {"b.png", png_of(3)}});
  const json answer = run.ask(field + "lamp\r\n" + files);
  EXPECT_EQ(answer["predictions"][0]["class_name"], "value_2");
  EXPECT_EQ(answer["predictions"][1]["watch"], "lamp");
  EXPECT_EQ(run.mistake(field + "box\r\n" + files), "404 no_such_watch");
}

TEST(Predict, WithoutAWatchTheOnlyModelSeesTheWholePicture) {
  const PredictRun run({}, {}, two_watches(/*several_models=*/false));
  const json answer = run.ask(png_of(7), "image/png");
  EXPECT_EQ(answer["class_name"], "value_7");
  EXPECT_FALSE(answer.contains("watch"));
  EXPECT_FALSE(answer.contains("state"));
}

TEST(Predict, OfSeveralModelsOneHasToBeMeant) {
  const PredictRun run({}, {}, two_watches(/*several_models=*/true));
  const HttpAnswer answer = run.send(request_of(png_of(7), "image/png"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(json::parse(answer.body)["error"]["code"], "no_watch_named");
  EXPECT_EQ(json::parse(answer.body)["error"]["message"],
            "the watches have several models: say by ?watch=NAME which one is meant, of gate, "
            "lamp");
}

TEST(Predict, AWatchThatThereIsNotIsRefusedBeforeTheBody) {
  const auto refused = [](const PredictRun& run, const std::string& path) {
    const json error = json::parse(run.send("POST " + path +
                                            " HTTP/1.1\r\nHost: localhost\r\n"
                                            "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n")
                                       .body)["error"];
    return error["code"].get<std::string>() + ": " + error["message"].get<std::string>();
  };
  const PredictRun watches({}, {}, two_watches(/*several_models=*/true));
  EXPECT_EQ(refused(watches, "/predict?watch=Gate"),
            "no_such_watch: there is no watch 'Gate': the watches are gate, lamp");
  EXPECT_EQ(refused(watches, "/predict?watch=my+gate"),
            "no_such_watch: there is no watch 'my gate': the watches are gate, lamp");
  EXPECT_EQ(refused(watches, "/predictions/grey?watch=box"),
            "no_such_watch: there is no watch 'box': the watches are gate, lamp");
  const PredictRun none;
  EXPECT_EQ(refused(none, "/predict?watch=gate"),
            "no_such_watch: there is no watch 'gate': nothing that is watched has a name");
}

TEST(Predict, ClientsOfTorchServeNameTheModelAndTheWatch) {
  const PredictRun run({}, {}, two_watches(/*several_models=*/true));
  const auto send = [&run](const std::string& path) {
    return run.send(request_of(png_of_halves(30, 200), "", path, "PUT"));
  };
  EXPECT_GT(json::parse(send("/predictions/grey?watch=gate").body)["value 30"], 0.4);
  EXPECT_GT(json::parse(send("/predictions/other?watch=lamp").body)["value 200"], 0.4);
  EXPECT_EQ(send("/predictions/grey").status, 200) << "the first one's, of the whole picture";
  EXPECT_EQ(json::parse(send("/predictions/grey?watch=lamp").body)["error"]["code"],
            "no_such_model");
}

TEST(Predict, TheFormOffersTheWatches) {
  const PredictRun run({}, {}, two_watches(/*several_models=*/true));
  EXPECT_THAT(http_get(run.port(), "/predict").body,
              testing::HasSubstr(R"(<option value="gate">gate</option>)"
                                 R"(<option value="lamp">&lt;b>&quot;&amp;{{watches}}</option>)"));
}

TEST(Predict, TheFormTellsWhatARequestMayHave) {
  HttpServiceOptions options;
  options.max_upload = 5 << 19;
  const PredictRun run({}, std::move(options));
  const std::string form = http_get(run.port(), "/predict").body;
  EXPECT_THAT(form, testing::HasSubstr("data-max-upload=\"2.5\""));
  EXPECT_THAT(form, testing::HasSubstr("of 2.5 MB each"));
  EXPECT_THAT(form, testing::HasSubstr("<p hidden><a href=\"./\" ")) << "there is no live picture";
  EXPECT_THAT(form, testing::HasSubstr("<div hidden>")) << "there is no choice";
  EXPECT_THAT(form, testing::Not(testing::HasSubstr("{{")));
}

TEST(Predict, WithoutACameraThereIsTheFormAlone) {
  const PredictRun run;
  EXPECT_NE(http_get(run.port(), "/").body.find("<form"), std::string::npos);
  EXPECT_EQ(http_get(run.port(), "/").body, http_get(run.port(), "/predict").body);
  EXPECT_EQ(http_get(run.port(), "/healthz").status, 200);
  for (const char* path : {"/state", "/snapshot.jpg", "/stream", "/events"}) {
    EXPECT_EQ(http_get(run.port(), path).status, 503) << path;
  }
}

TEST(Predict, ABodyHasALimit) {
  HttpLimits limits;
  limits.upload = 1000;
  const PredictRun run(limits);
  EXPECT_EQ(run.mistake(std::string(1000, 'a'), "image/png"), "415 not_a_picture");
  EXPECT_EQ(run.mistake(std::string(1001, 'a'), "image/png"), "413 too_large");
  const auto chunked = [&run](std::size_t bytes) {
    return run
        .send("POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" +
              std::string("1f4\r\n") + std::string(500, 'a') + "\r\n" +
              (bytes == 1000 ? "1f4" : "1f5") + "\r\n" + std::string(bytes - 500, 'a') +
              "\r\n0\r\n\r\n")
        .status;
  };
  EXPECT_EQ(chunked(1000), 415);
  EXPECT_EQ(chunked(1001), 413);
  EXPECT_EQ(run.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                     "chunked\r\n\r\n-2\r\n")
                .status,
            400);
}

TEST(Predict, TheAnswerToALargeRequestTellsTheLimitAndItsKey) {
  HttpLimits limits;
  limits.upload = 3 << 19;
  const PredictRun run(limits);
  const json error = run.ask(std::string((3 << 19) + 1, 'a'), "image/png")["error"];
  EXPECT_EQ(error["message"],
            "a request has at most 1.5 MB: send a smaller picture, or raise http.max-upload of the "
            "server");
}

TEST(Predict, ABodyHasToComeInTime) {
  HttpLimits limits;
  limits.body = std::chrono::milliseconds(50);
  const PredictRun run(limits);
  const std::string request = request_of(png_of(1), "image/png");
  EXPECT_EQ(run.send(request.substr(0, request.size() - 1)).status, 408);
}

TEST(Predict, AClientOfHttp10IsNotToldToGoOn) {
  const PredictRun run;
  const std::string png = png_of(5);
  EXPECT_EQ(run.send("POST /predict HTTP/1.0\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                     "Content-Length: " +
                     std::to_string(png.size()) + "\r\n\r\n" + png)
                .status,
            200);
}

TEST(Predict, AClientThatAsksWhetherToGoOnIsToldSo) {
  const PredictRun run;
  const std::string png = png_of(5);
  HttpClient client(run.port());
  client.send(
      "POST /predict HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
      "Content-Length: " +
      std::to_string(png.size()) + "\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(png);
  EXPECT_EQ(client.read_answer().status, 200);
  // The connection goes on.
  client.send(request_of(png, "image/png"));
  EXPECT_EQ(client.read_answer().status, 200);
}

TEST(Predict, WhoMayNotAskIsToldBeforeTheBody) {
  HttpServiceOptions options;
  options.access.token = "0123456789abcdef";
  const PredictRun run({}, std::move(options));
  const auto status = [&run](const std::string& path, const std::string& headers) {
    return run
        .send("POST " + path + " HTTP/1.1\r\n" + headers +
              "Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n")
        .status;
  };
  EXPECT_EQ(status("/predict", "Host: localhost\r\n"), 401);
  EXPECT_EQ(status("/predict", "Host: evil.example\r\n"), 421);
  EXPECT_EQ(status("/predict", "Host: localhost\r\nOrigin: http://evil.example\r\n"), 403);
  EXPECT_EQ(status("/state", "Host: localhost\r\n"), 405);
  EXPECT_EQ(status("/nothing", "Host: localhost\r\n"), 404);
}

TEST(Predict, ARequestThatIsCutAnywhereIsNotAnswered) {
  const PredictRun run;
  const std::string request = request_of(form_of({{"grey.png", png_of(40)}}), kFormType);
  for (std::size_t size = 0; size < request.size(); ++size) {
    HttpClient client(run.port());
    client.send(request.substr(0, size));
    client.end_sending();
    EXPECT_EQ(client.read_all(), "") << size;
  }
  EXPECT_EQ(run.send(request).status, 200);
}

TEST(Predict, AFormThatIsCutAnywhereHasItsMistake) {
  const PredictRun run;
  const std::string form = form_of({{"grey.png", png_of(40)}});
  const std::size_t end = form.rfind("--\r\n");
  for (std::size_t size = 0; size < end + 2; ++size) {
    EXPECT_EQ(run.send(request_of(form.substr(0, size), kFormType)).status, 400) << size;
  }
  EXPECT_EQ(run.send(request_of(form.substr(0, end + 2), kFormType)).status, 200);
}

TEST(Predict, APictureHasALimitOfItsSides) {
  HttpServiceOptions options;
  options.predict.side = 16;
  const PredictRun run({}, std::move(options));
  EXPECT_EQ(run.send(request_of(png_of(1, 16), "image/png")).status, 200);
  EXPECT_EQ(run.mistake(png_of(1, 17), "image/png"), "413 too_many_pixels");
}

TEST(Predict, AClientThatGoesIsNoticedWhileItsPictureWaits) {
  PredictRun run({}, {}, 0, true, /*classify=*/false);
  const auto metrics = [&run] { return http_get(run.port(), "/metrics").body; };
  const auto has = [](const std::string& text, const std::string& line) {
    return text.find("\n" + line + "\n") != std::string::npos;
  };
  HttpClient first(run.port());
  first.send(request_of(png_of(1), "image/png"));
  {
    HttpClient second(run.port());
    second.send(request_of(png_of(2), "image/png"));
    while (!has(metrics(), "lookout_predict_queue_length 2")) {
    }
  }
  while (!has(metrics(), "lookout_predict_queue_length 1")) {
  }
  EXPECT_TRUE(has(metrics(), "lookout_http_rejected_total{reason=\"client_gone\"} 1"));
}

TEST(Predict, TheServerEndsWhilePicturesWait) {
  PredictRun run({}, {}, 0, true, /*classify=*/false);
  HttpClient client(run.port());
  client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" +
              request_of(png_of(1), "image/png"));
  EXPECT_EQ(client.read_answer().status, 200);
  run.end();
  EXPECT_EQ(client.read_all(), "");
}

}  // namespace
}  // namespace lookout
