// lookout train and lookout collect, as their users meet them.
#include "app/train/train.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <random>
#include <sstream>

#include "platform/sources/test_pattern.h"
#include "tests/app/options/parsing.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(TrainOptions, EveryOptionIsUnderstood) {
  const TrainOptions options =
      parse_command({"train", "garage", "-o", "g.pt", "--model", "b.pt", "--labels-csv", "l.csv",
                     "--mirror", "--equal", "pictures", "--threads", "2", "--roi", "0,0,0.5,1",
                     "--format", "json", "--report", "r.html"})
          .train;
  EXPECT_EQ(options.folder, "garage");
  EXPECT_EQ(options.output, "g.pt");
  EXPECT_EQ(options.model.file, "b.pt");
  EXPECT_EQ(options.labels_csv, "l.csv");
  EXPECT_TRUE(options.mirror);
  EXPECT_FALSE(options.equal_classes);
  EXPECT_TRUE(parse_command({"train", "garage", "-o", "g.pt"}).train.equal_classes);
  EXPECT_EQ(options.model.threads, 2);
  EXPECT_EQ(options.camera.view.roi.width, 0.5);
  EXPECT_EQ(options.report, "r.html");
}

TEST(TrainOptions, WhatIsMissingIsAUsageError) {
  expect_error({"train", "garage"}, ErrorKind::kUsage, "-o FILE is required");
  expect_error({"train"}, ErrorKind::kUsage, "DIR is required");
}

TEST(CollectOptions, NeedALabelThatIsAFolder) {
  const CollectOptions options =
      parse_command({"collect", "test://all", "garage", "--label", "open", "--every", "2s", "-t",
                     "1min", "--keep-similar"})
          .collect;
  EXPECT_EQ(options.label, "open");
  EXPECT_EQ(options.every, std::chrono::seconds(2));
  EXPECT_EQ(options.camera.timeout, std::chrono::minutes(1));
  EXPECT_TRUE(options.keep_similar);
  expect_error({"collect", "test://all", "garage"}, ErrorKind::kUsage, "--label is required");
  expect_error({"collect", "test://all", "garage", "--label", "../x"}, ErrorKind::kUsage,
               "the name of a folder");
}

TEST(Progress, TellsTheTimeThatIsLeft) {
  EXPECT_EQ(progress_text("pictures", 0, 10, std::chrono::seconds(0)), "0 of 10 pictures");
  EXPECT_EQ(progress_text("pictures", 5, 20, std::chrono::seconds(4)),
            "5 of 20 pictures, 12 s left");
  EXPECT_EQ(progress_text("pictures", 1, 201, std::chrono::seconds(3)),
            "1 of 201 pictures, 10 min left");
}

// Two patterns with noise, as a camera sees them.
class Train : public testing::Test {
 protected:
  void draw(Pattern pattern, const std::string& file) {
    fs::create_directories((folder_.path() / file).parent_path());
    cv::Mat picture(120, 160, CV_8UC3);
    draw_pattern(pattern, picture);
    std::normal_distribution<float> normal(0, 12);
    const float light = 0.8F + 0.02F * static_cast<float>(random_() % 20);
    for (int y = 0; y < picture.rows; ++y) {
      for (int x = 0; x < picture.cols; ++x) {
        for (int c = 0; c < 3; ++c) {
          auto& value = picture.at<cv::Vec3b>(y, x)[c];
          value =
              cv::saturate_cast<std::uint8_t>(static_cast<float>(value) * light + normal(random_));
        }
      }
    }
    ASSERT_TRUE(cv::imwrite((folder_.path() / file).string(), picture));
  }

  void draw_two_classes(int pictures) {
    for (int i = 0; i < pictures; ++i) {
      draw(Pattern::kRed, "stop/" + name(i));
      draw(Pattern::kCheckers, "go/" + name(i));
    }
  }

  // A picture every minute.
  static std::string name(int i) {
    return "cam_20271122T10" + std::string(i < 10 ? "0" : "") + std::to_string(i) + "00.000Z.png";
  }

  ProgramResult train(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"train", folder_.path().string(), "-o", model_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_lookout(arguments);
  }

  void expect_refused(int status, const std::string& named) const {
    std::ofstream(model_) << "the old model";
    const ProgramResult ran = train();
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(named));
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(read_file(model_), "the old model");
  }

  std::mt19937 random_{5};
  TempDir folder_;
  TempDir elsewhere_;
  std::string model_ = elsewhere_ / "signal.pt";
};

TEST_F(Train, TheModelKnowsItsClasses) {
  draw_two_classes(12);
  const std::string page = elsewhere_ / "page.html";
  const ProgramResult ran = train({"--format", "json", "--report", page});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json report = json::parse(ran.out);
  EXPECT_EQ(report["type"], "train");
  EXPECT_EQ(report["labels"], (json{"go", "stop", "unknown"}));
  EXPECT_EQ(report["pictures"], 24);
  EXPECT_EQ(report["blocks_of_time"], true);
  EXPECT_GE(report["accuracy"]["right"], 22);
  EXPECT_THAT(read_file(page), HasSubstr("The most doubtful pictures"));
  EXPECT_THAT(read_file(page), Not(HasSubstr("<script")));

  const ProgramResult inspected = run_lookout({"inspect", model_, "--format", "json"});
  ASSERT_EQ(inspected.status, 0) << inspected.err;
  const json archive = json::parse(inspected.out);
  EXPECT_EQ(archive["name"], "signal");
  EXPECT_EQ(archive["sha256"], report["sha256"]);
  EXPECT_EQ(archive["unknown"], 2);
  EXPECT_EQ(archive["producer_info"]["classes"], (json{{"go", 12}, {"stop", 12}}));
  EXPECT_EQ(archive["producer_info"]["pictures_sha256"], report["pictures_sha256"]);

  const ProgramResult evaluated =
      run_lookout({"eval", folder_.path().string(), "--model", model_, "--format", "json"});
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  const json evaluation = json::parse(evaluated.out);
  EXPECT_GE(evaluation["top1"], 22);
  EXPECT_TRUE(evaluation["refused"].is_number());
  EXPECT_EQ(evaluation["mean_class_interval_percent"].size(), 2U);
}

TEST_F(Train, TheHeadBesideTheModelGivesItsScores) {
  draw_two_classes(8);
  const ProgramResult ran = train({"--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json report = json::parse(ran.out);
  const std::string head = elsewhere_ / "signal.head";
  EXPECT_EQ(report["head"]["file"], head);
  EXPECT_EQ(report["head"]["bytes"], fs::file_size(head));

  const ProgramResult inspected = run_lookout({"inspect", head, "--format", "json"});
  ASSERT_EQ(inspected.status, 0) << inspected.err;
  const json described = json::parse(inspected.out);
  EXPECT_EQ(described["format"], "head");
  EXPECT_EQ(described["name"], "signal");
  EXPECT_EQ(described["sha256"], report["head"]["sha256"]);
  EXPECT_EQ(described["base"]["sha256"], report["base"]["sha256"]);
  EXPECT_EQ(described["producer_info"]["pictures"], 16);

  const auto evaluate = [this](const std::string& model) {
    const ProgramResult evaluated =
        run_lookout({"eval", folder_.path().string(), "--model", model, "--format", "json"});
    EXPECT_EQ(evaluated.status, 0) << evaluated.err;
    return json::parse(evaluated.out)["results"];
  };
  const json whole = evaluate(model_);
  const json behind_base = evaluate(head);
  ASSERT_EQ(behind_base.size(), 16U);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(behind_base[i]["predicted"], whole[i]["predicted"]);
    for (std::size_t place = 0; place < 3; ++place) {
      EXPECT_NEAR(behind_base[i]["scores"][place].get<double>(),
                  whole[i]["scores"][place].get<double>(), 1e-4 + 1e-5)
          << "scores are rounded";
    }
  }
}

// One part of the picture tells the classes, as the watch and eval see it.
TEST_F(Train, SeesWhatTheWatchSees) {
  draw_two_classes(8);
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
    if (!entry.is_regular_file()) continue;
    const cv::Mat shown = cv::imread(entry.path());
    cv::Mat wide(shown.rows, 3 * shown.cols, CV_8UC3);
    cv::randu(wide, 0, 255);
    shown.copyTo(wide(cv::Rect(2 * shown.cols, 0, shown.cols, shown.rows)));
    cv::imwrite(entry.path(), wide);
  }
  const std::string config =
      elsewhere_.write("c.toml", "[watch.gate]\nroi = [0.667, 0, 0.333, 1]\nmodel = \"" + model_ +
                                     "\"\n[watch.yard]\n");
  const ProgramResult ran = train({"--watch", "gate", "--config", config});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto right = [&](const std::string& watch) {
    const ProgramResult evaluated =
        run_lookout({"eval", folder_.path().string(), "--watch", watch, "--config", config,
                     "--model", model_, "--format", "json"});
    EXPECT_EQ(evaluated.status, 0) << evaluated.err;
    return json::parse(evaluated.out)["top1"].get<int>();
  };
  EXPECT_GE(right("gate"), 15);
  EXPECT_LT(right("yard"), 15) << "which sees the middle";
}

// Their states are those of each alone, whose base is a copy of its own.
TEST_F(Train, HeadsOfOneBaseShareItInARun) {
  draw_two_classes(6);
  model_ = elsewhere_ / "one.head";
  ASSERT_EQ(train().status, 0);
  model_ = elsewhere_ / "other.head";
  ASSERT_EQ(train({"--mirror"}).status, 0);
  const std::vector<std::string> run{"test://all?fps=0&frames=12&hold=3", "--format", "json",
                                     "--set", "log.stats-interval=1h"};
  const auto results = [&run](std::vector<std::string> more, const char* watch, std::string& log) {
    more.insert(more.begin(), run.begin(), run.end());
    const ProgramResult ran = run_lookout(more);
    EXPECT_EQ(ran.status, 0) << ran.err;
    log = ran.err;
    std::vector<std::string> scores;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) {
      const json result = json::parse(line);
      if (result["type"] == "classification" && result.value("watch", "") == watch) {
        scores.push_back(result["results"].dump());
      }
    }
    return scores;
  };
  const std::vector<std::string> watches{"--set", "watch.a.model=" + (elsewhere_ / "one.head"),
                                         "--set", "watch.b.model=" + (elsewhere_ / "other.head"),
                                         "--set", "watch.c.model=" + (elsewhere_ / "other.head"),
                                         "--set", "watch.c.roi=0,0,0.5,1"};
  std::string log;
  const auto of_a = results(watches, "a", log);
  EXPECT_EQ(log.find("info base: "), log.rfind("info base: ")) << log;
  EXPECT_EQ(of_a.size(), 12U);
  EXPECT_EQ(of_a, results({"--model", elsewhere_ / "one.head"}, "", log));
  EXPECT_EQ(results(watches, "b", log), results({"--model", elsewhere_ / "other.head"}, "", log));
  EXPECT_EQ(results(watches, "c", log),
            results({"--model", elsewhere_ / "other.head", "--roi", "0,0,0.5,1"}, "", log));
}

TEST_F(Train, WritesAHeadAlone) {
  draw_two_classes(6);
  model_ = elsewhere_ / "signal.head";
  const ProgramResult ran = train({"--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["sha256"], json::parse(ran.out)["head"]["sha256"]);
  EXPECT_FALSE(fs::exists(elsewhere_ / "signal.pt"));
  const std::string first = read_file(model_);
  ASSERT_EQ(train({"--model", model_}).status, 0) << "its base is that of the next one";
  EXPECT_TRUE(first == read_file(model_));
}

TEST_F(Train, ARareClassCountsAsMuchAsAnother) {
  for (int i = 0; i < 40; ++i) {
    if (i < 8) draw(Pattern::kRed, "stop/" + name(i));
    draw(Pattern::kCheckers, "go/" + name(i));
  }
  const ProgramResult ran = train({"--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json report = json::parse(ran.out);
  EXPECT_EQ(report["equal"], "classes");
  const json& classes = report["classes"];
  const double mean =
      (classes[0]["right"].get<double>() / 40 + classes[1]["right"].get<double>() / 8) * 50;
  EXPECT_NEAR(report["accuracy"]["mean_class_percent"].get<double>(), mean, 1e-6);
  const ProgramResult inspected = run_lookout({"inspect", model_});
  EXPECT_THAT(inspected.out, HasSubstr(fmt::format("{:.1f} % right, mean over the classes", mean)));
  EXPECT_THAT(report["advice"].dump(), HasSubstr("go has 5 times as many pictures as stop"));
}

TEST_F(Train, SaysHowGoodItIsInWords) {
  draw_two_classes(8);
  const ProgramResult ran = train();
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr("\npictures          16, of 2 classes; 5 folds, in blocks of the time of "
                        "capture"));
  EXPECT_THAT(ran.out, HasSubstr("- go has 8 pictures: take 20 and more"));
  EXPECT_THAT(ran.out, HasSubstr("\nAccuracy by the number of pictures\n5 of each class "));
}

TEST_F(Train, TheSamePicturesGiveTheSameArchive) {
  draw_two_classes(6);
  ASSERT_EQ(train().status, 0);
  const std::string first = read_file(model_);
  ASSERT_EQ(train().status, 0);
  EXPECT_TRUE(first == read_file(model_));
}

TEST_F(Train, CounterExamplesAreUnknownToEvalToo) {
  draw_two_classes(8);
  for (int i = 0; i < 8; ++i) draw(Pattern::kGreen, "_other/" + name(i));
  const ProgramResult ran = train({"--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const ProgramResult evaluated =
      run_lookout({"eval", folder_.path().string(), "--model", model_, "--format", "json"});
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  const json evaluation = json::parse(evaluated.out);
  EXPECT_EQ(evaluation["classes"][2]["label"], "unknown");
  EXPECT_GE(evaluation["classes"][2]["top1"], 7);
}

TEST_F(Train, FewCounterExamplesAreLeftOut) {
  draw_two_classes(8);
  draw(Pattern::kGreen, "_other/" + name(0));
  const ProgramResult ran = train({"--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["pictures"], 16);
  EXPECT_THAT(ran.err, HasSubstr("_other has 1 picture: fewer than 5 are left out"));
}

TEST_F(Train, TellsHowManyForeignPicturesAreUnknown) {
  draw_two_classes(12);
  const ProgramResult alone = train();
  ASSERT_EQ(alone.status, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("- Whether foreign scenes become unknown was not measured"));

  for (int i = 0; i < 10; ++i) draw(Pattern::kGreen, elsewhere_ / ("other/" + name(i)));
  const std::string page = elsewhere_ / "page.html";
  const std::string folder = elsewhere_ / "other";
  const ProgramResult ran = train({"--other", folder, "--format", "json", "--report", page});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json report = json::parse(ran.out);
  EXPECT_TRUE(report["foreign"]["classes_of_base"].is_null()) << "the base knows few classes";
  const json pictures = report["foreign"]["pictures"];
  EXPECT_EQ(pictures["folder"], folder);
  EXPECT_EQ(pictures["scenes"], 10);
  EXPECT_EQ(report["pictures"], 24) << "they are not trained with";
  const std::string count =
      std::to_string(pictures["recognised"].get<int>()) + " of 10 pictures in ";
  EXPECT_THAT(read_file(page), HasSubstr(count));
  EXPECT_THAT(train({"--other", folder}).out, HasSubstr(", " + count + folder + " are unknown"));
}

TEST_F(Train, SaysWhenForeignPicturesAreTakenForAClass) {
  draw_two_classes(12);
  // Foreign only by what they are called.
  for (int i = 0; i < 10; ++i) draw(Pattern::kRed, elsewhere_ / ("other/" + name(i)));
  const ProgramResult ran = train({"--other", elsewhere_ / "other"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("- \"unknown\" is weak: "));
}

TEST_F(Train, AnEmptyFolderOfOthersIsAnError) {
  draw_two_classes(6);
  const ProgramResult ran = train({"--other", elsewhere_ / "none"});
  EXPECT_EQ(ran.status, 66);
  EXPECT_THAT(ran.err, HasSubstr("none"));
}

TEST_F(Train, RefusesWhatIsNoSetOfClasses) {
  draw(Pattern::kRed, "stop/1.png");
  expect_refused(65, "has one class only, stop: a model needs at least two");
  fs::create_directory(folder_ / "go");
  expect_refused(65, "has one class only, stop: a model needs at least two");
  draw(Pattern::kCheckers, "go/1.png");
  expect_refused(65, "class go has 1 picture: at least 5 are needed");
}

TEST_F(Train, NamesAPictureThatIsInTwoClasses) {
  draw_two_classes(6);
  fs::copy_file(folder_ / "stop/" + name(1), folder_ / "go/other.png");
  expect_refused(65,
                 "the same picture is in two classes: " + (folder_ / "go/other.png") + " of go");
}

TEST_F(Train, LeavesOutSomeBrokenPicturesButNotMany) {
  draw_two_classes(10);
  folder_.write("go/broken.png", "this is no picture");
  const ProgramResult ran = train({"--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["skipped"], 1);
  EXPECT_EQ(json::parse(ran.out)["pictures"], 20);
  for (const char* file : {"go/b.png", "go/c.png", "stop/d.png"}) {
    folder_.write(file, std::string("neither is this ") + file);
  }
  expect_refused(65, "4 of 24 pictures cannot be read: more than a tenth");
}

TEST_F(Train, LeavesOutPicturesThatComeTwice) {
  draw_two_classes(6);
  fs::copy_file(folder_ / "stop/" + name(1), folder_ / "stop/again.png");
  const ProgramResult ran = train({"--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["duplicates"], 1);
  EXPECT_EQ(json::parse(ran.out)["pictures"], 12);
}

TEST_F(Train, ReportsThePartThatWasNotTrainedWith) {
  for (int i = 0; i < 8; ++i) {
    const std::string part = i < 6 ? "train/" : "val/";
    draw(Pattern::kRed, part + "stop/" + name(i));
    draw(Pattern::kCheckers, part + "go/" + name(i));
  }
  const std::string page = elsewhere_ / "page.html";
  const ProgramResult ran = train({"--format", "json", "--report", page});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json report = json::parse(ran.out);
  EXPECT_EQ(report["labels"], (json{"go", "stop", "unknown"}));
  EXPECT_EQ(report["source"], folder_ / "train");
  EXPECT_EQ(report["pictures"], 12);
  EXPECT_EQ(report["val"]["source"], folder_ / "val");
  EXPECT_EQ(report["val"]["accuracy"]["pictures"], 4);
  EXPECT_THAT(read_file(page), HasSubstr("accuracy on val"));

  const ProgramResult evaluated =
      run_lookout({"eval", folder_.path().string(), "--model", model_, "--format", "json"});
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  EXPECT_EQ(json::parse(evaluated.out)["top1"], report["val"]["accuracy"]["right"]);
  EXPECT_THAT(train().out, HasSubstr("\naccuracy on val  "));
}

TEST_F(Train, TakesTheClassesFromACsvFile) {
  std::string csv = "file,label\n";
  for (int i = 0; i < 6; ++i) {
    draw(Pattern::kRed, "r" + name(i));
    draw(Pattern::kCheckers, "c" + name(i));
    csv += "r" + name(i) + ",stop\nc" + name(i) + ",go\n";
  }
  const std::string file = elsewhere_.write("labels.csv", csv);
  const ProgramResult ran = train({"--labels-csv", file, "--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["labels"], (json{"go", "stop", "unknown"}));
}

TEST_F(Train, SaysThatTimesTellNothing) {
  for (int i = 0; i < 6; ++i) {
    draw(Pattern::kRed, "stop/" + std::to_string(i) + ".png");
    draw(Pattern::kCheckers, "go/" + std::to_string(i) + ".png");
  }
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
    const std::array<timespec, 2> times{timespec{1000, 0}, timespec{1000, 0}};
    utimensat(AT_FDCWD, entry.path().c_str(), times.data(), 0);
  }
  const ProgramResult ran = train();
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("5 folds, in blocks of the order of the files' names"));
  EXPECT_THAT(ran.out, HasSubstr("The pictures of go, stop are nearly all of one scene"));
  EXPECT_THAT(ran.out, HasSubstr("do not tell when they were taken"));
}

TEST_F(Train, FindsNearCopiesInThePicturesWhateverTheirDates) {
  const std::array<Pattern, 3> stop{Pattern::kRed, Pattern::kGreen, Pattern::kBlue};
  const std::array<Pattern, 3> go{Pattern::kCheckers, Pattern::kVerticalLines, Pattern::kNoise};
  for (std::size_t i = 0; i < 18; ++i) {
    const std::string file = fmt::format("{}.png", i * 7 % 18);
    draw(stop[i / 6], "stop/" + file);
    draw(go[i / 6], "go/" + file);
  }
  fs::rename(folder_ / "go/3.png", folder_ / "go/" + name(3));
  const ProgramResult ran = train({"--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json report = json::parse(ran.out);
  EXPECT_EQ(report["blocks_of_time"], false);
  EXPECT_GE(report["near_copies"]["pictures"], 20);
  EXPECT_LE(report["near_copies"]["scenes"], 6);
  EXPECT_THAT(report["validation"].get<std::string>(), HasSubstr("near-copies together"));
  EXPECT_THAT(report["advice"].dump(), HasSubstr("pictures are near-copies of others"));
  EXPECT_GT(report["accuracy"]["interval_percent"][1].get<double>() -
                report["accuracy"]["interval_percent"][0].get<double>(),
            30);
}

TEST_F(Train, AnInterruptedTrainingLeavesTheOldModel) {
  draw_two_classes(59);
  std::ofstream(model_) << "the old model";
  Program program({"train", folder_.path().string(), "-o", model_});
  ASSERT_TRUE(program.wait_for("base: "));
  kill(program.pid(), SIGINT);
  const ProgramResult ran = program.finish();
  EXPECT_EQ(ran.status, 128 + SIGINT) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("interrupted: " + model_ + " was not written"));
  EXPECT_EQ(read_file(model_), "the old model");
  for (const auto& entry : fs::directory_iterator(elsewhere_.path())) {
    EXPECT_EQ(entry.path().string(), model_) << "something is left";
  }
}

TEST_F(Train, AFullDiskIsAnErrorOfTheOutput) {
  draw_two_classes(6);
  const ProgramResult ran = run_lookout({"train", folder_.path().string(), "-o", "/dev/full"});
  EXPECT_EQ(ran.status, 74) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("model /dev/full cannot be written"));
}

// ---- The whole loop

TEST(Collect, LeavesOutWhatLooksLikeTheOneBefore) {
  const TempDir folder;
  fs::create_directory(folder.path() / "seen");
  cv::Mat picture(120, 160, CV_8UC3, cv::Scalar(40, 120, 90));
  for (int i = 0; i < 11; ++i) {
    if (i == 10) picture(cv::Rect(70, 50, 20, 20)) = cv::Scalar(200, 200, 200);
    cv::imwrite(folder / fmt::format("seen/{:02}.png", i), picture);
  }
  const ProgramResult ran = run_lookout(
      {"collect", folder / "seen", folder.path().string(), "--label", "open", "--every", "0"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err,
              HasSubstr("2 pictures of open written, 9 left out that looked like the one"));
  for (const auto& entry : fs::directory_iterator(folder.path() / "open")) {
    EXPECT_THAT(entry.path().filename().string(),
                testing::MatchesRegex("[a-z]+_[0-9]{8}T[0-9]{6}\\.[0-9]{3}Z_open\\.jpg"));
    EXPECT_EQ(cv::imread(entry.path().string()).size(), cv::Size(160, 120));
  }
}

// What changes elsewhere is no new picture of the gate.
TEST(Collect, ComparesWhatTheWatchSees) {
  const TempDir folder;
  fs::create_directory(folder.path() / "seen");
  cv::Mat picture(48, 64, CV_8UC3, cv::Scalar::all(0));
  const auto write = [&](const char* name) { cv::imwrite(folder / "seen/" + name, picture); };
  write("1.png");
  picture(cv::Rect(32, 0, 32, 48)) = cv::Scalar::all(200);
  write("2.png");
  picture(cv::Rect(0, 0, 32, 48)) = cv::Scalar::all(90);
  write("3.png");
  const std::string config = folder.write("c.toml", "[watch.gate]\nroi = [0, 0, 0.5, 1]\n");
  const ProgramResult ran =
      run_lookout({"collect", folder / "seen", folder.path().string(), "--label", "open", "--every",
                   "0", "--watch", "gate", "--config", config});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("2 pictures of open written, 1 left out"));
  for (const auto& file : fs::directory_iterator(folder.path() / "open")) {
    EXPECT_EQ(cv::imread(file.path()).size(), picture.size()) << "whole pictures";
  }
}

TEST(Collect, WhatCannotBeMadeIsAnErrorOfTheOutput) {
  const ProgramResult ran =
      run_lookout({"collect", "test://checkers?frames=1", "/proc/none/there", "--label", "open"});
  EXPECT_EQ(ran.status, 74) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("/proc/none/there"));
}

TEST(Collect, WhatIsCollectedMakesAModelThatKnowsTheState) {
  const TempDir folder;
  const std::string pictures = folder / "pictures";
  for (const std::string pattern : {"red", "checkers"}) {
    const ProgramResult ran =
        run_lookout({"collect", "test://" + pattern + "?size=160x120&fps=0&frames=12&noise=20",
                     pictures, "--label", pattern, "--every", "0", "--keep-similar"});
    ASSERT_EQ(ran.status, 0) << ran.err;
  }
  const std::string model = folder / "signal.pt";
  ASSERT_EQ(run_lookout({"train", pictures, "-o", model}).status, 0);
  for (const std::string pattern : {"red", "checkers"}) {
    const ProgramResult ran =
        run_lookout({"test://" + pattern + "?fps=0&frames=3&noise=20", "--model", model, "--format",
                     "json", "--set", "results.write=changes"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("\"state\":\"" + pattern + "\""));
  }
  const std::string unsure = folder / "unsure";
  const ProgramResult ran =
      run_lookout({"test://hcolorbars?fps=0&frames=3&noise=20", "--model", model, "--format",
                   "json", "--set", "results.write=changes", "--snapshot-on-change", unsure,
                   "--set", "events.snapshot-when=unsure"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"state\":\"unknown\",\"index\":null"));
  EXPECT_EQ(std::distance(fs::directory_iterator(unsure), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace lookout
